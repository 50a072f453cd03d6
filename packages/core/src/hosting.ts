import type { Extension } from './kernel/extension.js';
import { collect, listOf } from './registry/bodies.js';
import { drain, isGenerator } from './registry/generators.js';
import type { Caller, MemberHost, Provider } from './registry/plan.js';

export type { Provider } from './registry/plan.js';

/** The key of the `ServerHost` in a server's options. A symbol, because only our own packages set it. */
export const SERVER_HOST: unique symbol = Symbol.for('decorum:server-host') as never;

type ExtensionMethod = NonNullable<Extension['methods']>[string];

/** A framework that runs everything that a server serves, because nothing may bypass the framework's guards. */
export interface ServerHost {
  /**
   * Takes over a provider, such as a tool that `addTool` adds.
   * @returns the provider's host, and the object whose methods the server calls in place of the instance's
   * @throws {DecorumError} if the framework can't guard the provider
   */
  provider(provider: Provider): { readonly instance: object; readonly host: MemberHost };
  /** Takes over a method of an extension. Returns the function to call in its place. */
  method(name: string, handle: ExtensionMethod): ExtensionMethod;
}

/** The framework that runs a server's members; undefined if the server does. */
export const serverHostOf = (options: object): ServerHost | undefined =>
  (options as { readonly [SERVER_HOST]?: ServerHost })[SERVER_HOST];

/** A provider, taken over by the server's framework, if it has one. */
export const hostedProvider = (provider: Provider, host: ServerHost | undefined): Provider =>
  host === undefined ? provider : { ...provider, ...host.provider(provider) };

/** Extensions, taken over by the server's framework, if it has one. */
export function hostedExtensions(extensions: readonly Extension[], host: ServerHost | undefined): readonly Extension[] {
  if (host === undefined) return extensions;
  return extensions.map((extension) => {
    const methods = Object.entries(extension.methods ?? {});
    return {
      ...extension,
      methods: Object.fromEntries(methods.map(([name, each]) => [name, host.method(name, each)])),
    };
  });
}

/** Streams, which the server reads itself. */
const isStream = (value: object): boolean => 'pipe' in value || 'getReader' in value;

/**
 * Runs the generator that a hosted member returned, so that the host sees its result, and the errors of its body.
 * @param value what the member returned
 * @param call the member's kind, and the call's `Context`, which reports the progress that a tool yields
 * @returns the result of a tool, the content of a resource, or the messages of a prompt. Undefined if `value` isn't a
 *   generator of one of these
 */
export function runGenerator(
  value: unknown,
  { kind, context }: { readonly kind: string; readonly context: Caller },
): Promise<unknown> | undefined {
  if (typeof value !== 'object' || value === null || !isGenerator(value) || isStream(value)) return undefined;
  if (kind === 'tool') return drain(value, context);
  if (kind === 'resource') return collect(value, context).then(({ data }) => data);
  return kind === 'prompt' ? listOf(value, context) : undefined;
}
