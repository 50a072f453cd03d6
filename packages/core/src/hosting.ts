import type { ExtensionHandler } from './kernel/extensions/extension.js';
import { collect, listOf } from './registry/bodies.js';
import { drain, isGenerator, type Reader } from './registry/generators.js';
import type { MemberHost } from './registry/member-host.js';
import type { Provider } from './registry/plan.js';

export type { Provider } from './registry/plan.js';

/** The key of the `ServerHost` in a server's options. A symbol, because only our own packages set it. */
export const SERVER_HOST: unique symbol = Symbol.for('decorum:server-host') as never;

/**
 * A framework, such as Nest, that runs everything that a server serves, because nothing may bypass the framework's
 * guards. Each provider gets a `MemberHost`, which is the other half of this contract.
 */
export interface ServerHost {
  /**
   * Takes over a provider, such as a tool that `addTool` adds.
   * @returns the provider's host, and the object whose methods the server calls in place of the instance's
   * @throws {DecorumError} if the framework can't guard the provider
   */
  provider(provider: Provider): { readonly instance: object; readonly host: MemberHost };
  /** Takes over a method of an extension. Returns the function to call in its place. */
  method(name: string, handle: ExtensionHandler): ExtensionHandler;
}

/** The framework that runs a server's members; undefined if the server does. */
export const serverHostOf = (options: object): ServerHost | undefined =>
  (options as { readonly [SERVER_HOST]?: ServerHost })[SERVER_HOST];

/** A provider, taken over by the server's framework, if it has one. */
export const hostedProvider = (provider: Provider, host: ServerHost | undefined): Provider =>
  host === undefined ? provider : { ...provider, ...host.provider(provider) };

/** Streams, which the server reads itself. */
const isStream = (value: object): boolean => 'pipe' in value || 'getReader' in value;

/**
 * How to run the generator that a hosted member returned, so that the host sees its result, and the errors of its body.
 * @param value what the member returned
 * @param kind the member's kind
 * @returns a function that resolves with the result of a tool, the content of a resource, or the messages of a prompt. It
 *   reports the progress that a tool yields. Undefined if `value` isn't a generator of one of these
 */
export function generatorOf(value: unknown, kind: string): ((caller: Reader) => Promise<unknown>) | undefined {
  if (typeof value !== 'object' || value === null || !isGenerator(value) || isStream(value)) return undefined;
  if (kind === 'tool') return (caller) => drain(value, caller);
  if (kind === 'resource') return (caller) => collect(value, caller).then(({ data }) => data);
  return kind === 'prompt' ? (caller) => listOf(value, caller) : undefined;
}
