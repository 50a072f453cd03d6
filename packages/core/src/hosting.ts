import type { Extension } from './kernel/extension.js';
import type { MemberHost, Provider } from './registry/plan.js';

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
