import { clusterServer } from './secrets.js';
import type { McpServerOptions } from './options.js';

/** Opens and closes what a server shares with other processes, and what keeps its data. */
export function storeHooks(
  options: McpServerOptions<readonly object[]>,
  report: (error: unknown, message?: string) => void,
): readonly { onStart(): void | Promise<void>; onClose(): void | Promise<void> }[] {
  const { cluster, store } = options;
  const port = cluster && clusterServer(options, report);
  return [
    ...(cluster && port ? [{ onStart: () => cluster.open?.(port), onClose: () => cluster.close?.() }] : []),
    ...(store ? [{ onStart: () => store.open?.(), onClose: () => store.close?.() }] : []),
  ];
}
