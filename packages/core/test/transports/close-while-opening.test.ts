import { PassThrough } from 'node:stream';

import { expect, it } from '@jest/globals';
import { connectMemory, McpServer, serveStdio, Tool } from '@decorum/core';

/** Number of microtasks between starting a transport and closing its server. */
const TURNS = Array.from({ length: 13 }, (_, count) => count);

class Clock {
  closed = 0;

  @Tool({ description: 'Tells the time' }) now() {
    return 'noon';
  }

  async onStart() {
    await undefined;
  }

  onClose() {
    this.closed += 1;
  }
}

const OPENED: Readonly<Record<string, (server: McpServer) => Promise<unknown>>> = {
  async stdio(server) {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const { closed } = await serveStdio(server, { input, output });
    await closed;
    if (input.listenerCount('data') > 0) throw new Error('It still reads.');
  },
  async memory(server) {
    const connection = await connectMemory(server, { receive: () => {} });
    await new Promise(setImmediate);
    const sent = connection.send({ jsonrpc: '2.0', id: 1, method: 'ping' });
    await expect(sent).rejects.toThrow('The connection is closed.');
  },
};

it.each(Object.entries(OPENED))(
  'A server that is closed while %s opens closes it, or does not open it',
  async (_name, open) => {
    for (const turns of TURNS) {
      const clock = new Clock();
      const server = new McpServer({ name: 'clock', version: '1.0.0', providers: [clock] });
      const opened = open(server).catch((error: { code?: string }) => {
        if (error.code !== 'DECORUM_SERVER_CLOSED') throw error;
      });
      for (let turn = 0; turn < turns; turn += 1) await undefined;
      await expect(server.close()).resolves.toBeUndefined();
      await opened;
      expect([turns, clock.closed]).toEqual([turns, 1]);
    }
  },
);
