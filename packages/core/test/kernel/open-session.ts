import type { McpServer } from '@decorum/core';
import { type Frame, HOST, type Kernel, type Reply, type SessionLink, type Wire } from '@decorum/core/transport';

/** Opens a session without a client, so that a test decides when each message arrives. */
export async function openSession(server: McpServer, link: Partial<SessionLink> = {}) {
  const owner = await server[HOST].open((opened) => ({ kernel: opened, stop() {}, close() {} }));
  const { kernel }: { readonly kernel: Kernel } = owner;
  const sent: Frame[] = [];
  const send = (frame: Frame) => void sent.push(frame);
  const session = kernel.openSession({}, { push: send, ...link });
  const wire: Wire = { transport: { kind: 'memory' }, principal: undefined, owner, send };
  const handle = (message: object): Reply | Promise<Reply> =>
    kernel.handle(Array.isArray(message) ? message : { jsonrpc: '2.0', ...message }, wire, session);
  const initialize = async (protocolVersion = '2025-11-25', capabilities: object = {}) => {
    const params = { protocolVersion, capabilities, clientInfo: { name: 'c', version: '1' } };
    await handle({ id: 0, method: 'initialize', params });
  };
  return { kernel, owner, session, sent, wire, handle, initialize };
}
