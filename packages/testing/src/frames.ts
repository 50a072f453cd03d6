import type { JsonRpcMessage } from '@decorum/core/transport';

/** A message between the client and the server. */
export interface Frame {
  readonly direction: 'sent' | 'received';
  readonly message: JsonRpcMessage;
}
