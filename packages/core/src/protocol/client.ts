import type { ClientCapabilities, Implementation } from './model.js';

/** Facts about the client that sent a request. */
export interface Client {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}
