import type { Registration } from './registration.js';

/** The key of the method that adds the members of a source. Registered, so that copies of the package agree. */
export const ATTACH: unique symbol = Symbol.for('decorum:attach') as never;

/** A source of members for a server of the type `Server`. */
export interface SourceDefinition<Server> {
  /**
   * Called when it is added to a server, usually while the server is created. Members may be added and removed later, too.
   * @returns what removes its members
   * @throws {DecorumError} for a mistake that should keep the server from starting
   */
  [ATTACH](server: Server): Registration | void;
  /** Runs once, before the server handles its first message. */
  onStart?(server: Server): void | Promise<void>;
  /** Runs once, after the server has handled its last message. */
  onClose?(): void | Promise<void>;
}

/** Whether a provider is a source of members. */
export const isMemberSource = (provider: unknown): provider is SourceDefinition<object> =>
  typeof provider === 'object' && provider !== null && ATTACH in provider;
