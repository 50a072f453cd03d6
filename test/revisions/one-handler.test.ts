// A handler with questions is written once. The result is the same in every revision, and the effect happens once per
// flow. In the stateless revision, each round may run in another process.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';
import { type JsonObject, MemorySingleUse } from '@decorum/core';

import {
  type Answer,
  type Message,
  RAW_TRANSPORTS,
  RawClient,
  type RawTransport,
  textOf,
} from '../support/raw-client.js';
import { type Revision, REVISIONS, STATELESS } from '../support/requirements.js';
import { createServer } from './one-handler.js';
import { Log } from './servers.js';

const SECRET = 'a secret that all processes share';
const PROGRAM = fileURLToPath(new URL('one-handler-server.js', import.meta.url));

/** A process with the handlers, and its connection. */
interface Running {
  readonly child: ChildProcess;
  /** Sends a request and returns the text of the response. */
  send(text: string): Promise<string>;
}

/** Starts a process over one transport, which records its effects in a file. */
type Start = (effects: string) => Promise<Running>;

function start(effects: string, ...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: { ...process.env, DECORUM_SECRET: SECRET, EFFECTS: effects },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error('The process ended and left something unsaid.');
    return value;
  };
  return { child, line };
}

const overHttp: Start = async (effects) => {
  const { child, line } = start(effects);
  const url = await line();
  return {
    child,
    async send(text) {
      const { method, params } = JSON.parse(text) as Message;
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': String(method),
        'mcp-name': String(params?.['name']),
      };
      return await (await fetch(url, { method: 'POST', headers, body: text })).text();
    },
  };
};

const overStdio: Start = async (effects) => {
  const { child, line } = start(effects, '--stdio');
  return {
    child,
    async send(text) {
      child.stdin.write(`${text}\n`);
      return await line();
    },
  };
};

async function kill({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Sends each message to a new process, which is killed after its response. Adds the process ids to `pids`. */
const toFreshProcesses =
  (begin: () => Promise<Running>, pids: number[]): RawTransport =>
  async (_server, receive) => {
    return {
      async send(text) {
        const process = await begin();
        pids.push(process.child.pid as number);
        let answer: string;
        try {
          answer = await process.send(text);
        } finally {
          await kill(process);
        }
        receive(answer);
      },
      close: () => {},
    };
  };

const said = ({ messages }: JsonObject) => (messages as { content: { text: string } }[])[0]?.content.text;

/** Each answer repeats its question, to show that it reached the right one. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  'sampling/createMessage': (params) => ({
    result: { role: 'assistant', model: 'm', content: { type: 'text', text: `(${said(params)})` } },
  }),
  'roots/list': () => ({ result: { roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }] } }),
  'elicitation/create': ({ message }) => ({ result: { action: 'accept', content: { city: `[${message}]` } } }),
};

interface Story {
  readonly tool: string;
  readonly revisions: readonly Revision[];
  readonly answer: (flow: string) => unknown;
  /** The methods of the questions, in order. */
  readonly questions: readonly string[];
}

const BETTER = '(Better than (An idea?)?)';
const TO = '[From [From?] to?]';

const STORIES: readonly Story[] = [
  {
    tool: 'plan',
    revisions: REVISIONS,
    answer: (flow) => [
      '(An idea?)',
      `receipt for ${flow}`,
      BETTER,
      `(A title for ${BETTER}?)`,
      ['file:///a', 'file:///b'],
    ],
    questions: ['sampling/createMessage', 'sampling/createMessage', 'sampling/createMessage', 'roots/list'],
  },
  {
    tool: 'book',
    revisions: REVISIONS.filter((revision) => revision >= '2025-06-18'),
    answer: (flow) => ['[From?]', `receipt for ${flow}`, TO, `[To ${TO} by?]`, `(A tip for ${TO}?)`],
    questions: ['elicitation/create', 'elicitation/create', 'elicitation/create', 'sampling/createMessage'],
  },
];

/** Two rounds for single questions, one for two questions at once, and the last. */
const ROUNDS = 4;

/** A client that answers all questions. */
async function clientOf(transport: RawTransport, revision: Revision = STATELESS, server = createServer(() => {})) {
  const elicits = revision >= '2025-06-18';
  const capabilities = { sampling: {}, roots: {}, ...(elicits && { elicitation: {} }) };
  return await RawClient.connect(server, { revision, capabilities, answers: ANSWERS }, transport);
}

/** Runs a flow to its end and checks the outcome. */
async function play(client: RawClient, { tool, answer, questions }: Story, flow: string): Promise<void> {
  const asked = client.questions.length;
  const result = await client.call(tool, { flow });
  expect(result['isError'] ?? false).toBe(false);
  expect(JSON.parse(textOf(result) as string)).toEqual(answer(flow));
  expect(client.questions.slice(asked).map(({ method }) => method)).toEqual(questions);
}

describe('one handler', () => {
  const cases = STORIES.flatMap((story) =>
    story.revisions.flatMap((revision) =>
      Object.entries(RAW_TRANSPORTS).map(([medium, transport]) => ({ ...story, revision, medium, story, transport })),
    ),
  );

  it.each(cases)(
    'returns the same result in $revision over $medium, with one effect: $tool',
    async ({ story, revision, transport }) => {
      const noted: string[] = [];
      const server = createServer((flow) => noted.push(flow), { logger: new Log() });
      await play(await clientOf(transport, revision, server), story, 'a');
      expect(noted).toEqual(['a']);
      await play(await clientOf(transport, revision, server), story, 'b');
      expect(noted).toEqual(['a', 'b']);
    },
  );
});

describe('a flow whose process is killed after each round', () => {
  it.each([
    { medium: 'HTTP', begin: overHttp, story: STORIES[0] as Story },
    { medium: 'stdio', begin: overStdio, story: STORIES[1] as Story },
  ])('is completed by later processes over $medium', async ({ begin, story }) => {
    const pids: number[] = [];
    const folder = mkdtempSync(join(tmpdir(), 'decorum-effects-'));
    const effects = join(folder, 'effects');
    await play(await clientOf(toFreshProcesses(() => begin(effects), pids)), story, 'a');
    expect(new Set(pids).size).toBe(ROUNDS);
    // the second round has the first answer, so its process has the effect
    expect(readFileSync(effects, 'utf8')).toBe(`a ${pids[1]}\n`);
    rmSync(folder, { recursive: true });
  });
});

/** The parameters of the next round, with the answers to the questions. */
function next({ result = {} }: Message): JsonObject {
  const { inputRequests, requestState } = result;
  const questions = Object.entries(inputRequests as Record<string, { method: string; params?: JsonObject }>);
  const inputResponses = Object.fromEntries(
    questions.map(([key, { method, params = {} }]) => {
      const answer = (ANSWERS[method] as Answer)(params, key) as { result: object };
      return [key, answer.result];
    }),
  );
  return { inputResponses, requestState };
}

describe('a flow with single-use states', () => {
  it.each(Object.entries(RAW_TRANSPORTS))(
    'is completed with one effect, whatever the client repeats over %s',
    async (_medium, transport) => {
      const noted: string[] = [];
      const options = { logger: new Log(), singleUse: new MemorySingleUse() };
      const server = createServer((flow) => noted.push(flow), options);
      const client = await clientOf(transport, STATELESS, server);
      const send = (given: JsonObject) =>
        client.request('tools/call', { name: 'plan', arguments: { flow: 'a' }, ...given });
      let last = await send({});
      const spent: JsonObject[] = [];
      while (last.result?.['resultType'] === 'input_required') {
        const given = next(last);
        spent.push(given);
        last = await send(given);
        // the same again, without answers, at once, and all earlier rounds
        const repeated = [{ ...given, inputResponses: {} }, ...spent].map(send);
        for (const { error } of await Promise.all(repeated)) expect(error?.code).toBe(-32602);
      }
      expect(JSON.parse(textOf(last.result as JsonObject) as string)).toEqual(STORIES[0]?.answer('a'));
      expect(noted).toEqual(['a']);
    },
  );

  it('needs this option: without it, repeating a state repeats the effect', async () => {
    const noted: string[] = [];
    const server = createServer((flow) => noted.push(flow), { logger: new Log() });
    const client = await clientOf(RAW_TRANSPORTS.memory, STATELESS, server);
    const send = (given: JsonObject) =>
      client.request('tools/call', { name: 'plan', arguments: { flow: 'a' }, ...given });
    const second = next(await send({}));
    for (let time = 1; time <= 2; time += 1) {
      await send(second);
      expect(noted).toHaveLength(time);
    }
  });
});
