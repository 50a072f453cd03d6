import type { Hooks } from './hooks.js';
import type { Extension } from './kernel/extensions/extension.js';
import { hostOfExtension, type HostParts } from './kernel/extensions/extension-host.js';
import { clusterServer, hasSecret } from './secrets.js';

interface ExtensionParts extends Omit<HostParts, 'server' | 'hasSecret' | 'isClustered' | 'isMounted'> {
  readonly extensions: readonly Extension[];
  readonly hooks: Hooks;
  /** The servers that mount this one. */
  readonly outers: ReadonlySet<object>;
}

/** Opens extensions when the server starts. */
export function openExtensions(
  { extensions, hooks, outers, ...own }: ExtensionParts,
  options: Parameters<typeof clusterServer>[0] & { readonly cluster?: unknown },
  report: (error: unknown) => void,
): void {
  const server = clusterServer(options, report);
  const parts = { ...own, server, hasSecret: hasSecret(options), isClustered: options.cluster !== undefined };
  for (const extension of extensions) {
    if (extension.open === undefined) continue;
    const onStart = () => extension.open?.(hostOfExtension(extension, { ...parts, isMounted: outers.size > 0 }));
    hooks.add({ onStart });
  }
}
