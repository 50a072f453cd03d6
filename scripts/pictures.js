/**
 * `npm run pictures`: draws the pictures of the documentation into `docs/pictures`. With `--check`, it only says which
 * of them are out of date. `npm run pictures:recording` makes the recording of a terminal.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { bars, figuresIn } from './pictures/bars.js';
import { boxes } from './pictures/boxes.js';
import { sequence } from './pictures/sequence.js';
import { ROOT } from './workspace.js';

const FOLDER = join(ROOT, 'docs/pictures');

const FIGURES = figuresIn(readFileSync(join(ROOT, 'docs/operate/performance.md'), 'utf8'));

/**
 * A row of the chart, by its case.
 * @param {string} name
 * @param {string} given
 */
function figure(name, given) {
  const found = FIGURES.find((each) => each.case === given && each.server === 'session');
  if (found === undefined) throw new Error(`docs/operate/performance.md has no figure of ${given}.`);
  return { name, ...found };
}

const PICTURES = {
  'who-talks-to-whom': boxes({
    title:
      'A person uses a client, such as an editor. The client asks a model, and calls tools of your server, which uses your database and services.',
    height: 210,
    boxes: {
      person: { x: 80, y: 105, width: 110, lines: ['Person'], soft: true },
      client: { x: 290, y: 105, lines: ['Client', 'Claude, an editor, …'] },
      model: { x: 290, y: 28, width: 110, lines: ['Model'], soft: true },
      server: { x: 520, y: 105, lines: ['Your server', 'a class with', 'Decorum'] },
      data: { x: 690, y: 55, width: 110, lines: ['Database'], soft: true },
      service: { x: 690, y: 155, width: 110, lines: ['Services'], soft: true },
    },
    edges: [
      { from: 'person', to: 'client', text: 'asks', both: true },
      { from: 'client', to: 'model', both: true },
      { from: 'client', to: 'server', text: 'MCP', both: true },
      { from: 'server', to: 'data' },
      { from: 'server', to: 'service' },
    ],
  }),
  'a-call': sequence({
    title:
      'The path of a call: the transport checks who calls, the arguments become an instance of your class, your method runs, and its result is checked and sent.',
    actors: ['Client', 'Transport', 'Decorum', 'Your method'],
    steps: [
      { from: 'Client', to: 'Transport', text: 'tools/call forecast' },
      { at: 'Transport', text: 'host, origin, size, token' },
      { from: 'Transport', to: 'Decorum', text: 'message, caller' },
      { at: 'Decorum', text: 'access, limits, then arguments' },
      { from: 'Decorum', to: 'Client', text: 'wrong arguments: what is wrong, and where', reply: true },
      { from: 'Decorum', to: 'Your method', text: 'ForecastQuery, ctx' },
      { from: 'Your method', to: 'Decorum', text: 'what you return', reply: true },
      { at: 'Decorum', text: 'checked by output' },
      { from: 'Decorum', to: 'Client', text: 'result', reply: true },
    ],
  }),
  'a-question': sequence({
    title:
      'A question to the user. In a session, the server asks while the call waits. Without one, the call ends with the question, and the client calls again with the answer.',
    actors: ['User', 'Client', 'Your method'],
    steps: [
      { heading: 'In a session' },
      { from: 'Client', to: 'Your method', text: 'call' },
      { from: 'Your method', to: 'Client', text: 'question: which seat?' },
      { from: 'Client', to: 'User', text: 'form' },
      { from: 'User', to: 'Client', text: '12A', reply: true },
      { from: 'Client', to: 'Your method', text: 'answer: the same run goes on', reply: true },
      { from: 'Your method', to: 'Client', text: 'result', reply: true },
      { heading: 'Without a session' },
      { from: 'Client', to: 'Your method', text: 'call' },
      { from: 'Your method', to: 'Client', text: 'which seat? and a sealed state', reply: true },
      { from: 'Client', to: 'User', text: 'form' },
      { from: 'User', to: 'Client', text: '12A', reply: true },
      { from: 'Client', to: 'Your method', text: 'the call again, with 12A and the state' },
      { at: 'Your method', text: 'runs again, with the answer' },
      { from: 'Your method', to: 'Client', text: 'result', reply: true },
    ],
  }),
  'sign-in': sequence({
    title:
      'Signing in: the server refuses a call without a token and names its issuer. The client sends the user there, gets a token for this server, and calls again.',
    actors: ['User', 'Client', 'Your server', 'Issuer'],
    steps: [
      { from: 'Client', to: 'Your server', text: 'call without a token' },
      { from: 'Your server', to: 'Client', text: '401: where to ask', reply: true },
      { from: 'Client', to: 'Your server', text: 'which issuer?' },
      { from: 'Your server', to: 'Client', text: 'the issuer', reply: true },
      { from: 'Client', to: 'User', text: 'opens the browser' },
      { from: 'User', to: 'Issuer', text: 'signs in, and allows the client' },
      { from: 'Issuer', to: 'Client', text: 'code', reply: true },
      { from: 'Client', to: 'Issuer', text: 'code and its proof (PKCE)' },
      { from: 'Issuer', to: 'Client', text: 'token for this server only', reply: true },
      { from: 'Client', to: 'Your server', text: 'call with the token' },
      { from: 'Your server', to: 'Client', text: 'result', reply: true },
    ],
  }),
  'many-processes': boxes({
    title:
      'Many processes: a proxy sends each request to any process. They share sessions, streams and limits in Redis.',
    height: 250,
    boxes: {
      clients: { x: 90, y: 125, width: 120, lines: ['Clients'], soft: true },
      proxy: { x: 280, y: 125, width: 130, lines: ['Proxy', 'any request', 'to any process'], soft: true },
      one: { x: 490, y: 48, lines: ['Process 1'] },
      two: { x: 490, y: 125, lines: ['Process 2'] },
      three: { x: 490, y: 202, lines: ['Process 3'] },
      redis: { x: 680, y: 125, width: 130, lines: ['Redis', 'sessions, streams,', 'limits, tasks'] },
    },
    edges: [
      { from: 'clients', to: 'proxy', both: true },
      { from: 'proxy', to: 'one', both: true },
      { from: 'proxy', to: 'two', both: true },
      { from: 'proxy', to: 'three', both: true },
      { from: 'one', to: 'redis', both: true },
      { from: 'two', to: 'redis', both: true },
      { from: 'three', to: 'redis', both: true },
    ],
  }),
  benchmark: bars({
    title: 'What a call costs, beside a bare Fastify route that does the same. Shorter is better.',
    names: ['a bare Fastify route', 'Decorum, in a session'],
    rows: [
      figure('add two numbers', 'add'),
      figure('list 1,000 tools', 'list-1000'),
      figure('1,000 progress messages', 'progress-1000'),
    ],
  }),
};

mkdirSync(FOLDER, { recursive: true });
const stale = [];
for (const [name, text] of Object.entries(PICTURES)) {
  const file = join(FOLDER, `${name}.svg`);
  if (process.argv.includes('--check')) {
    if (readFileSync(file, 'utf8') !== text) stale.push(name);
  } else writeFileSync(file, text);
}
if (stale.length > 0) {
  process.stderr.write(`These pictures are out of date; run npm run pictures: ${stale.join(', ')}\n`);
  process.exitCode = 1;
}
