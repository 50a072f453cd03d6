import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

import { CALL } from './client.js';

// Another client, in its own thread and with another address. It measures how long it waits during the flood.

const EVERY_MS = 25;
const { headers, body } = CALL;
const agent = new Agent({ keepAlive: true });
const waits: number[] = [];

function ask(): void {
  const began = performance.now();
  const options = { method: 'POST', agent, headers: { ...headers, 'content-length': String(body.length) } };
  const sent = request(workerData as string, { ...options, localAddress: '127.0.0.2' }, (response) => {
    response.resume().on('end', () => {
      // a rejection counts as no response
      waits.push(response.statusCode === 200 ? performance.now() - began : Number.POSITIVE_INFINITY);
    });
  });
  sent.on('error', () => waits.push(Number.POSITIVE_INFINITY));
  sent.end(body);
}

const timer = setInterval(ask, EVERY_MS);
parentPort?.once('message', () => {
  clearInterval(timer);
  agent.destroy();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(waits);
});
