import { once } from 'node:events';
import { connect } from 'node:net';

import type { Act } from './acts.js';
import { LOST_MS } from './call.js';
import type { HttpClient, Fields } from './http-client.js';
import { STATELESS, textOf } from './messages.js';
import type { Random } from './random.js';

const inSession = ({ revision }: HttpClient): boolean => revision !== STATELESS;

const resume: Act<HttpClient> = {
  name: 'resume',
  weight: 3,
  fits: inSession,
  async run(client, random) {
    const steps = random.int(50, 500);
    const running = client.tool('progress', { steps, size: 20 }, { progress: true });
    for (let cuts = random.int(1, 3), seen = 0; cuts > 0 && running.state === 'open'; cuts -= 1) {
      await running.noted((seen += random.int(1, 20)));
      if (running.state === 'open') await client.interrupt(running);
    }
    const text = textOf(await running.answer);
    const complete = running.steps.length === steps && running.steps.every((step, at) => step === at + 1);
    client.require(text === 'done' && complete, `resumed with ${running.steps.join(' ').slice(0, 300)}, "${text}"`);
  },
};

const comeBack: Act<HttpClient> = {
  name: 'come back',
  weight: 1,
  fits: ({ revision }) => revision === '2025-11-25',
  async run(client, random) {
    const steps = random.int(2, 50);
    const running = client.tool('interrupt', { steps, size: 0 }, { progress: true });
    const text = textOf(await running.answer);
    const complete = running.steps.length === steps;
    client.require(text === 'done' && complete, `came back to ${running.steps.join(' ').slice(0, 300)}, "${text}"`);
  },
};

const JSON_TYPE: Fields = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}';

/** Bodies and headers that must be rejected, with the expected status. */
const REFUSED: readonly (readonly [body: string, headers: Fields, status: number])[] = [
  ['{bad', JSON_TYPE, 400],
  ['', JSON_TYPE, 400],
  ['1', JSON_TYPE, 400],
  ['{"jsonrpc":"2.0"}', JSON_TYPE, 400],
  ['{"jsonrpc":"2.0","method":"x","params":{"__proto__":{}}}', JSON_TYPE, 400],
  [`${'['.repeat(5000)}${']'.repeat(5000)}`, JSON_TYPE, 400],
  [CALL, { ...JSON_TYPE, 'content-type': 'text/plain' }, 415],
  [CALL, { ...JSON_TYPE, accept: 'text/html' }, 406],
  [CALL, { ...JSON_TYPE, 'mcp-session-id': 'nobody', 'mcp-protocol-version': '2025-11-25' }, 404],
  [CALL, { ...JSON_TYPE, host: 'evil.example' }, 403],
  [CALL, { ...JSON_TYPE, origin: 'https://evil.example' }, 403],
  ['x'.repeat(5 * 1024 * 1024), JSON_TYPE, 413],
];

const garbage: Act<HttpClient> = {
  name: 'garbage',
  weight: 2,
  async run(client, random) {
    for (let left = random.int(1, 4); left > 0; left -= 1) {
      const [body, headers, status] = random.pick(REFUSED);
      const got = await client.post(body, headers);
      // if a body is rejected before its end, the response may be lost with the connection
      const isRight = got === status || (got === 0 && body.length > 1_000_000);
      client.require(isRight, `${body.slice(0, 60)} ${JSON.stringify(headers)} got ${got} instead of ${status}`);
    }
  },
};

const head = (target: URL, headers: string) => `POST ${target.pathname} HTTP/1.1\r\nHost: ${target.host}\r\n${headers}`;
const TYPE = 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n';

/** The beginnings of requests that never end. */
const BROKEN: readonly ((target: URL, random: Random) => string | Buffer)[] = [
  (target) => head(target, TYPE),
  (target) => head(target, `${TYPE}Content-Length: 1000\r\n\r\n{"jsonrpc":`),
  (target) => head(target, `${TYPE}Transfer-Encoding: chunked\r\n\r\n40\r\n{"jsonrpc":`),
  (target) => head(target, `${TYPE}Transfer-Encoding: chunked\r\n\r\nzz\r\n`),
  (target) => `${head(target, `${TYPE}Content-Length: ${CALL.length}\r\n\r\n${CALL}`)}${head(target, TYPE)}`,
  (_target, random) => random.bytes(random.int(1, 5000)),
];

const cutOff: Act<HttpClient> = {
  name: 'cut off',
  weight: 2,
  async run(client, random) {
    for (let left = random.int(1, 4); left > 0; left -= 1) {
      const { url } = client;
      const socket = connect({ host: url.hostname, port: Number(url.port) });
      socket.on('error', () => {});
      const closed = once(socket, 'close', { signal: AbortSignal.timeout(LOST_MS) });
      await once(socket, 'connect');
      socket.write(random.pick(BROKEN)(url, random), () => {
        if (random.chance(0.5)) socket.resetAndDestroy();
        else socket.destroy();
      });
      await closed;
    }
  },
};

/** The acts that only Streamable HTTP clients can do. */
export const HTTP_ACTS: readonly Act<HttpClient>[] = [resume, comeBack, garbage, cutOff];
