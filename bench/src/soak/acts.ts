import type { Call } from './call.js';
import type { Client } from './client.js';
import { type Members, textOf } from './messages.js';
import type { Random } from './random.js';

/** Something that a client does. It throws if the server responds incorrectly. */
export interface Act<C extends Client = Client> {
  readonly name: string;
  /** How often it is chosen, relative to the other acts. */
  readonly weight: number;
  /** Whether a client can do it. */
  readonly fits?: (client: C) => boolean;
  run(client: C, random: Random): Promise<void>;
}

/** Sends an addition, and returns a function that checks the response. */
function addition(client: Client, random: Random, tool: 'add' | 'later' = 'add'): () => Promise<void> {
  const [a, b] = [random.int(0, 1_000_000), random.int(0, 1_000_000)];
  const call = client.tool(tool, { a, b });
  return async () => await requireText(client, call, String(a + b));
}

async function requireText(client: Client, call: Call, expected: string): Promise<void> {
  const answer = await call.answer;
  client.require(textOf(answer) === expected, `wanted "${expected}", got ${JSON.stringify(answer).slice(0, 300)}`);
}

/** Requires progress notifications without gaps. */
function requireSteps(client: Client, { steps }: Call, count: number): void {
  const inOrder = steps.length === count && steps.every((step, index) => step === index + 1);
  client.require(inOrder, `wanted progress from 1 to ${count}, got ${steps.join(' ').slice(0, 200)}`);
}

const call: Act = {
  name: 'call',
  weight: 6,
  async run(client, random) {
    for (let left = random.int(1, 40); left > 0; left -= 1) await addition(client, random)();
  },
};

const browse: Act = {
  name: 'list, read, complete',
  weight: 2,
  async run(client, random) {
    for (const list of ['tools/list', 'resources/templates/list', 'prompts/list']) await client.result(list);
    const id = `${random.int(1, 1000)}`;
    const { contents } = await client.result('resources/read', { uri: `soak://${id}` });
    client.require(JSON.stringify(contents).includes(`\\"${id}\\"`), `read ${JSON.stringify(contents)}`);
    await client.result('prompts/get', { name: 'greet', arguments: { name: id } });
    const ref = { type: 'ref/prompt', name: 'greet' };
    const { completion } = await client.result('completion/complete', { ref, argument: { name: 'name', value: id } });
    client.require(JSON.stringify(completion).includes(`${id}b`), `completed ${JSON.stringify(completion)}`);
  },
};

const fail: Act = {
  name: 'fail',
  weight: 2,
  async run(client) {
    const [failed, invalid] = [client.tool('fail'), client.tool('add', { a: 'x' })];
    for (const each of [failed, invalid]) {
      const { result } = await each.answer;
      client.require(result?.['isError'] === true, `a failing tool returned ${JSON.stringify(result)}`);
    }
    for (const each of [client.tool('nothing'), client.start('nothing/at/all')]) {
      const { error } = await each.answer;
      client.require(error !== undefined, 'a request that is invalid got no error');
    }
  },
};

const progress: Act = {
  name: 'progress',
  weight: 3,
  async run(client, random) {
    const steps = random.int(1, 300);
    const running = client.tool('progress', { steps, size: 20 }, { progress: true });
    await requireText(client, running, 'done');
    requireSteps(client, running, steps);
  },
};

const log: Act = {
  name: 'log',
  weight: 1,
  async run(client, random) {
    const steps = random.int(1, 20);
    const before = client.logged;
    await requireText(client, client.tool('log', { steps }), 'done');
    client.require(client.logged - before === steps, `got ${client.logged - before} of ${steps} log messages`);
  },
};

const ask: Act = {
  name: 'ask',
  weight: 3,
  async run(client, random) {
    const how = random.pick(client.revision >= '2025-06-18' ? ['elicit', 'sample', 'roots'] : ['sample', 'roots']);
    const answer = { elicit: `accept ${client.name}`, sample: client.name, roots: `file:///${client.name}` }[how];
    const params: Members = { name: 'ask', arguments: { how } };
    const text = textOf(await client.ask('tools/call', params));
    client.require(text === `${answer} ${answer}`, `wanted "${answer}" twice, got "${text}"`);
  },
};

const cancel: Act = {
  name: 'cancel',
  weight: 2,
  async run(client, random) {
    const waiting = Array.from({ length: random.int(1, 4) }, () => client.tool('wait', {}, { progress: true }));
    await Promise.all(waiting.map(async (each) => await each.noted(1)));
    await Promise.all(waiting.map(async (each) => await client.cancel(each)));
    await addition(client, random)();
  },
};

const subscribe: Act = {
  name: 'subscribe',
  weight: 2,
  async run(client, random) {
    const uri = `soak://${client.name}-${random.int(1, 1_000_000)}`;
    const { updated, end } = await client.follow(uri);
    await requireText(client, client.tool('touch', { uri }), 'done');
    await updated();
    await end();
  },
};

/** Fewer requests in flight than any default cap. */
const WAVE = 90;

const flood: Act = {
  name: 'flood',
  weight: 4,
  async run(client, random) {
    for (let waves = random.int(1, 15); waves > 0; waves -= 1) {
      const checks = Array.from({ length: WAVE }, () => addition(client, random, random.pick(['add', 'later'])));
      await Promise.all(checks.map(async (check) => await check()));
    }
  },
};

const BUSY = -32_603;

const overload: Act = {
  name: 'overload',
  weight: 1,
  async run(client, random) {
    const calls = Array.from({ length: random.int(100, 500) }, () => client.tool('later', { a: 1, b: 2 }));
    const answers = await Promise.all(calls.map(async (each) => await each.answer));
    const wrong = answers.find((answer) => textOf(answer) !== '3' && answer.error?.code !== BUSY);
    client.require(wrong === undefined, `an overloaded server answered ${JSON.stringify(wrong)}`);
    await addition(client, random)();
  },
};

const batch: Act = {
  name: 'batch',
  weight: 2,
  fits: ({ revision }) => revision === '2025-03-26',
  async run(client, random) {
    const pairs = Array.from({ length: random.int(2, 20) }, () => [random.int(0, 1000), random.int(0, 1000)] as const);
    const calls = client.batch(
      random.pick(['add', 'later']),
      pairs.map(([a, b]) => ({ a, b })),
    );
    await Promise.all(pairs.map(async ([a, b], at) => await requireText(client, calls[at] as Call, String(a + b))));
  },
};

const slow: Act = {
  name: 'read slowly',
  weight: 1,
  async run(client, random) {
    const running = client.tool('progress', { steps: 1000, size: 4000 }, { progress: true });
    await running.noted(1);
    const resume = client.pause(running);
    setTimeout(resume, random.int(20, 300));
    await requireText(client, running, 'done');
    // progress for a slow reader may be dropped
    const { steps } = running;
    client.require(
      steps.every((step, at) => at === 0 || step > (steps[at - 1] as number)),
      'progress went back',
    );
  },
};

/** The acts of clients on all transports. */
export const ACTS: readonly Act[] = [
  call,
  browse,
  fail,
  progress,
  log,
  ask,
  cancel,
  subscribe,
  flood,
  overload,
  batch,
  slow,
];

/** Leaves requests of all kinds in flight, for a client that is about to vanish. */
export async function leaveBehind(client: Client, random: Random): Promise<void> {
  client.answers = false;
  const asking = client.start('tools/call', { name: 'ask', arguments: { how: 'roots' } });
  const waiting = client.tool('wait', {}, { progress: true });
  const streaming = client.tool('progress', { steps: 5000, size: 100 }, { progress: true });
  if (random.chance(0.5)) await waiting.noted(1);
  if (random.chance(0.3)) await streaming.noted(random.int(1, 500));
  if (client.stateless && random.chance(0.5)) {
    client.start('subscriptions/listen', { notifications: { toolsListChanged: true } });
  }
  client.vanish();
  client.require(asking.state !== 'open', 'a request is still open');
}
