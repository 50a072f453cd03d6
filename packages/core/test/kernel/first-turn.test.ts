// A handler starts before its request is registered as in flight. Effects during that time count too.
import { Context, McpServer, NoInput, Tool, toolResult } from '@decorum/core';
import type { SessionLink } from '@decorum/core/transport';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { ENVELOPE } from '../transports/pipe-client.js';
import { openSession } from './open-session.js';

class Busy {
  server: McpServer | undefined;
  aborted: unknown;

  @Tool() async leave() {
    void this.server?.close();
    await new Promise(setImmediate);
    return 'good bye';
  }

  @Tool() async long(_: NoInput, ctx: Context) {
    ctx.progress(1);
    await new Promise<void>((resolve) => {
      if (ctx.signal.aborted) resolve();
      ctx.signal.addEventListener('abort', () => resolve());
    });
    this.aborted = ctx.signal.aborted;
  }

  @Tool() short(_: NoInput, ctx: Context) {
    ctx.progress(1);
    ctx.log.error('trouble');
    return 'done';
  }

  @Tool() asks(_: NoInput, ctx: Context) {
    for (let count = 0; count < 200; count += 1) ctx.confirm(`Question ${count}`).catch(() => {});
    return new Promise<void>(() => {});
  }

  @Tool() rpc() {
    // RPC proxies return such objects
    // oxlint-disable-next-line no-thenable
    return Object.assign(() => {}, { then: (resolve: (rows: string) => void) => resolve('from afar') });
  }

  @Tool() nothing() {
    return toolResult({ content: 'text', structuredContent: { toJSON: () => undefined } });
  }

  @Tool() fine() {
    return toolResult({ content: 'text', isError: false });
  }
}

const quiet = { warn: () => {}, error: () => {} };

function serve() {
  const busy = new Busy();
  busy.server = new McpServer({ name: 'busy', version: '1.0.0', providers: [busy], logger: quiet });
  return { busy, server: busy.server };
}

const open = (link: Partial<SessionLink> = {}) => openSession(serve().server, link);

describe('The first turn of a handler', () => {
  it.each(['2025-11-25', '2026-07-28'])('may close the server, and is answered (%s)', async (revision) => {
    const { server } = serve();
    const client = await connect(server, { revision });
    expect((await client.callTool('leave')).content).toMatchObject([{ text: 'good bye' }]);
  });

  it('may be cancelled in response to its own messages', async () => {
    const { server, busy } = serve();
    const client = await connect(server);
    const stop = new AbortController();
    const options = { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) };
    await expect(client.callTool('long', {}, options)).rejects.toThrow('enough');
    await new Promise(setImmediate);
    expect(busy.aborted).toBe(true);
  });

  it.each([
    ['is cancelled and ends in this turn', () => {}],
    ['is cancelled, and then loses its session, in this turn', (end: () => void) => end()],
  ])('has no reply if it %s', async (_how, then) => {
    const { kernel, wire, initialize } = await open();
    const session = kernel.openSession({}, { push() {} });
    await initialize();
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const send = () => {
      void kernel.handle(cancel, wire, session);
      then(() => kernel.closeSession(session));
    };
    const params = { name: 'short', _meta: { progressToken: 1, ...ENVELOPE } };
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    expect(kernel.handle(request, { ...wire, send }, session)).toEqual({ text: undefined, cancelled: 'client' });
  });

  it('fails if it asks endlessly', async () => {
    const { handle } = await open();
    const meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const reply = handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'asks', _meta: meta } });
    expect((await reply).failure).toMatchObject({ kind: 'internal-error' });
  });
});

describe('Kernel.handle', () => {
  it('tells transports which messages a slow reader can do without', async () => {
    const { handle, initialize, sent } = await open();
    await initialize();
    await handle({ id: 1, method: 'tools/call', params: { name: 'short', _meta: { progressToken: 1 } } });
    expect(sent.map(({ kind }) => kind)).toEqual(['progress', 'log']);
  });

  it.each([[{ toString: 1 }], [['initialize']], [{ toString: 1, valueOf: 1 }]] as [unknown][])(
    'does not throw for a batch with the method %j',
    async (method) => {
      const { handle, initialize } = await open();
      await initialize('2025-03-26');
      const { text } = await handle([{ jsonrpc: '2.0', id: 4, method }]);
      expect(JSON.parse(text as string)).toMatchObject([{ id: 4, error: { code: -32600 } }]);
    },
  );

  it('does not throw if a session cannot be stored', async () => {
    const save = () => {
      throw new Error('no store');
    };
    const { handle, initialize } = await open({ save });
    await initialize('2025-11-25');
    expect(handle({ jsonrpc: '2.0', method: 'notifications/initialized' })).toMatchObject({
      failure: { kind: 'internal-error' },
    });
  });

  it.each([
    ['rpc', { content: [{ type: 'text', text: 'from afar' }] }],
    ['nothing', { content: [{ type: 'text', text: 'text' }] }],
    ['fine', { content: [{ type: 'text', text: 'text' }], isError: false }],
  ])('writes the JSON form of the result of %s', async (name, result) => {
    const { handle, initialize } = await open();
    await initialize('2025-11-25');
    const { text } = await handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
    expect(JSON.parse(text as string)).toEqual({ jsonrpc: '2.0', id: 1, result });
  });
});
