import type { JsonRpcMessage } from '@decorum/core/transport';

/** A message as it passed between the client and the server. */
export interface Frame {
  readonly direction: 'sent' | 'received';
  readonly message: JsonRpcMessage;
}
