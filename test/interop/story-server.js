// The conformance fixture plus tools for the stories of clients. It serves over HTTP and, for any number of concurrent
// clients, over pipes: each connection to its port acts as a pipe. With `--stdio`, it serves its own stdin and stdout.
import { EventEmitter, once } from 'node:events';
import { createServer as listenForPipes } from 'node:net';

import { serveStdio } from '@decorum/core';
import { listen } from '@decorum/http';

import { createServer } from '../../examples/everything/dist/server.js';

const server = createServer();
const object = (/** @type {Record<string, object>} */ properties) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const NAME = object({ name: { type: 'string' } });

server.addTool({ name: 'touch' }, () => {
  server.notify.resourceUpdated('test://watched-resource');
  return 'It has changed.';
});

/** Emits the reason of each cancellation. */
const reasons = new EventEmitter();

server.addTool({ name: 'wait', input: NAME }, async ({ name }, ctx) => {
  const aborted = once(ctx.signal, 'abort');
  ctx.progress(1, 2);
  await aborted;
  reasons.emit(String(name), ctx.signal.reason.message);
});

server.addTool({ name: 'why', input: NAME }, async ({ name }, ctx) => {
  const reason = once(reasons, String(name));
  ctx.progress(1, 2);
  return (await reason)[0];
});

/** @type {Map<unknown, { names: unknown[], leave: (() => void)[] }>} */
const places = new Map();
const MEETING = object({ place: { type: 'string' }, name: { type: 'string' }, count: { type: 'integer' } });

// a barrier: no call returns until all have arrived
server.addTool({ name: 'meet', input: MEETING }, async ({ place, name, count }) => {
  const { names, leave } = places.get(place) ?? { names: [], leave: [] };
  places.set(place, { names, leave });
  names.push(name);
  await new Promise((resolve) => {
    leave.push(() => resolve(undefined));
    if (names.length === count) for (const go of leave) go();
  });
  return names.length === count ? `${name} has met ${count}` : 'too many';
});

if (process.argv.includes('--stdio')) {
  await serveStdio(server);
} else {
  const pipes = listenForPipes({ allowHalfOpen: true }, async (socket) => {
    const { closed } = await serveStdio(server, { input: socket, output: socket });
    await closed;
    socket.end();
  });
  await once(pipes.listen(0, '127.0.0.1'), 'listening');
  const { url } = await listen(server, { port: 0, legacySse: true });
  const address = /** @type {import('node:net').AddressInfo} */ (pipes.address());
  process.stdout.write(`${url} and pipes at port ${address.port}\n`);
}
