import { Context, McpServer, needInput, NoInput, Tool } from '@decorum/core';
import type { Frame } from '@decorum/core/transport';
import { describe, expect, it } from '@jest/globals';

import { openPipe, type PipeClient, type Received } from '../transports/pipe-client.js';
import { openSession } from './open-session.js';
import { ERAS, said, serveTool, textOf, turn } from './serving.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const ACCEPTED = { action: 'accept', content: { name: 'Ada' } } as const;

const answers = { onElicit: () => ACCEPTED, onRoots: () => [{ uri: 'file:///a' }] };

/** A tool whose client answers by replay. */
const byReplay = async (handler: (ctx: Context) => unknown) => {
  const { client, errors } = await serveTool(handler, { era: 'stateless', ...answers });
  return { called: client.callTool('tool'), errors };
};

const pause = async () => {
  for (let count = 0; count < 50; count += 1) await turn();
};

/** Throws after too many turns, so that an endless synchronous loop fails the test instead of blocking it. */
function turns(most: number): () => void {
  let count = 0;
  return () => {
    count += 1;
    if (count > most) throw new Error('Nothing ends the loop.');
  };
}

/** Keeps asking, even after errors. */
const stubborn = (step: () => void) => async (ctx: Context) => {
  for (;;) {
    step();
    try {
      return (await ctx.elicit(NAME, { message: 'Who?' })).action;
    } catch {}
  }
};

it('a loop of pings yields to others if the client has no ping', async () => {
  const test = { isOver: false };
  const { called } = await byReplay(async (ctx) => {
    while (!test.isOver) await ctx.ping().catch(() => {});
    return 'over';
  });
  await pause();
  test.isOver = true;
  expect((await called).content).toEqual(said('over'));
});

describe('a loop of questions', () => {
  it('with one key is an error, even if all questions are equal', async () => {
    const step = turns(1000);
    const { called, errors } = await byReplay(async (ctx) => {
      for (;;) {
        step();
        const { action } = await ctx.elicit(NAME, { message: 'Guess', key: 'guess' });
        if (action !== 'accept') return action;
      }
    });
    await expect(called).rejects.toThrow(/^Internal error/);
    expect(errors).toEqual([new Error('Two questions of one handler have the key "guess". Give each a unique key.')]);
  });

  it('is an error too if the questions are returned', async () => {
    const question = { method: 'roots/list' } as const;
    const { called, errors } = await byReplay((ctx) =>
      ctx.answers?.['more'] ? 'done' : needInput({ where: question, ...(ctx.answers && { more: question }) }),
    );
    await expect(called).rejects.toThrow(/^Internal error/);
    expect(errors.map(String)).toEqual([expect.stringMatching('"where"')]);
  });

  it('cannot be swallowed', async () => {
    const { called } = await byReplay(async (ctx) => {
      await ctx.elicit(NAME, { message: 'Guess', key: 'guess' });
      await ctx.elicit(NAME, { message: 'Guess', key: 'guess' }).catch(() => {});
      return 'swallowed';
    });
    await expect(called).rejects.toThrow(/^Internal error/);
  });

  it('that catches everything and asks forever is answered with an error, and stops', async () => {
    let count = 0;
    let hasEnded = false;
    const most = turns(1000);
    const loop = stubborn(() => ((count += 1), most()));
    const { called, errors } = await byReplay((ctx) => loop(ctx).finally(() => (hasEnded = true)));
    await expect(called).rejects.toThrow(/^Internal error/);
    expect(errors.map(String)).toEqual([
      'Error: A handler asked 100 questions for one request. Check it for an endless loop. ' +
        'If it catches errors from questions, rethrow InputSignal.',
    ]);
    await pause();
    const reached = count;
    await pause();
    expect([count, hasEnded]).toEqual([reached, false]);
  });

  it.each(ERAS)('yields to others if the client cannot be asked: %s', async (era) => {
    let isRunning = true;
    const most = turns(100_000);
    const loop = stubborn(() => {
      most();
      if (!isRunning) throw new Error('stopped');
    });
    const { client, errors } = await serveTool(loop, { era, capabilities: {} });
    const call = client.callTool('tool').catch(() => {});
    await pause();
    isRunning = false;
    await call;
    expect(errors).toEqual([new Error('stopped')]);
  });
});

/** Serves a tool that passes options to a question, and keeps the errors and what the client is asked. */
async function ask(how: (ctx: Context, more: object) => unknown, more: object, era: (typeof ERAS)[number]) {
  const asked: unknown[] = [];
  const { client, errors } = await serveTool(async (ctx) => void (await how(ctx, more)), {
    era,
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    onElicit: (params) => (asked.push(params), { action: 'accept', content: {} }),
    onSample: (params) => (asked.push(params), 'Hello'),
    onRoots: () => (asked.push({}), []),
  });
  const { isError } = await client.callTool('tool');
  return { isError, errors: errors.map(String), asked };
}

const VISIT = { message: 'Go', url: 'https://example.com' };

/** Each question with the options that it needs, and more. */
const QUESTIONS: readonly (readonly [name: string, question: (ctx: Context, more: object) => unknown])[] = [
  ['elicit', (ctx, more) => ctx.elicit({ ...NAME, required: [] }, { message: 'Who?', ...more })],
  ['elicitUrl', (ctx, more) => ctx.elicitUrl({ ...VISIT, ...more })],
  ['requireUrl', (ctx, more) => ctx.requireUrl({ ...VISIT, ...more })],
  ['confirm', (ctx, more) => ctx.confirm('Sure?', more)],
  ['sample', (ctx, more) => ctx.sample({ messages: 'Hi', maxTokens: 5, ...more })],
  ['roots', (ctx, more) => ctx.roots(more)],
];

describe.each(QUESTIONS)('ctx.%s', (name, question) => {
  it.each(ERAS)('rejects unknown options before it asks: %s (#22)', async (era) => {
    const { isError, errors, asked } = await ask(question, { sealed: true }, era);
    expect([isError, asked]).toEqual([true, []]);
    expect(errors).toEqual([
      expect.stringMatching(`ctx\\.${name}: \`sealed\` is not an option\\. Remove it, or use one of`),
    ]);
    // the option that replaces it
    if (name !== 'confirm') expect(errors[0]).toContain('acceptUnsolicited');
  });

  it('suggests the closest option, and rejects values of a wrong type (#22)', async () => {
    const misspelt = await ask(question, { timeoutMS: 5 }, 'stateful');
    expect(misspelt.errors).toEqual([expect.stringMatching('Write `timeoutMs`')]);
    const { errors, asked } = await ask(question, { key: 7 }, 'stateful');
    expect([errors, asked]).toEqual([[expect.stringMatching('`key` is 7, but must be a string')], []]);
  });
});

it.each(QUESTIONS.filter(([name]) => name !== 'confirm'))(
  'ctx.%s rejects `acceptUnsolicited` without a key, under which clients answer (#22)',
  async (name, question) => {
    const { isError, errors, asked } = await ask(question, { acceptUnsolicited: true }, 'stateless');
    expect([isError, asked]).toEqual([true, []]);
    expect(errors).toEqual([expect.stringMatching(`ctx\\.${name}: .*needs a .key.*DECORUM_INVALID_OPTION`)]);
    expect((await ask(question, { acceptUnsolicited: true, key: 'who' }, 'stateless')).errors).toEqual([]);
    expect((await ask(question, { acceptUnsolicited: false }, 'stateless')).errors).toEqual([]);
  },
);

it('ctx.ping rejects unknown options (#22)', async () => {
  const { errors } = await ask((ctx, more) => ctx.ping(more), { method: 'roots/list' }, 'stateful');
  expect(errors).toEqual([expect.stringMatching('ctx\\.ping: `method` is not an option')]);
});

class Files {
  @Tool({ description: 'Where the client works' }) async where(_input: NoInput, ctx: Context) {
    return (await ctx.roots()).map(({ uri }) => uri).join();
  }
}

const CHANGED = { method: 'notifications/roots/list_changed' };
const listing = (uri: string) => ({ result: { roots: [{ uri }] } });

async function open(capability: object): Promise<PipeClient> {
  const { client } = await openPipe(new McpServer({ name: 'files', version: '1.0.0', providers: [Files] }));
  await client.initialize({ roots: capability });
  return client;
}

const questions = ({ received }: PipeClient) => received.filter(({ method }) => method === 'roots/list');

/** Calls the tool and waits for its question. */
async function asking(client: PipeClient, id: number): Promise<Received> {
  const known = questions(client).length;
  client.send({ id, method: 'tools/call', params: { name: 'where' } });
  return await client.find((message) => questions(client).indexOf(message) === known);
}

const textOfResponse = ({ result }: Received) => textOf(result as object);

describe('ctx.roots()', () => {
  it.each([{}, { listChanged: false }, { listChanged: 'yes' }])(
    'asks each time if the client does not report changes: %j',
    async (capability) => {
      const client = await open(capability);
      for (const id of [1, 2]) {
        client.send({ id: (await asking(client, id)).id, ...listing(`file:///${id}`) });
        expect(textOfResponse(await client.response(id))).toBe(`file:///${id}`);
      }
    },
  );

  it('asks each time if several processes share the session, because another one may get the notification', async () => {
    const server = new McpServer({ name: 'files', version: '1.0.0', providers: [Files] });
    const { handle, wire, initialize } = await openSession(server, { save() {} });
    const asked: string[] = [];
    Object.assign(wire, {
      send({ kind, text }: Frame) {
        if (kind !== 'question') return;
        asked.push(text);
        void handle({ id: `s${asked.length}`, ...listing('file:///a') });
      },
    });
    await initialize('2025-11-25', { roots: { listChanged: true } });
    for (const id of [1, 2]) {
      const { text } = await handle({ id, method: 'tools/call', params: { name: 'where' } });
      expect(text).toContain('file:///a');
    }
    expect(asked).toHaveLength(2);
  });

  it.each([
    ['before the answer', (answer: object) => [CHANGED, answer]],
    ['right after the answer', (answer: object) => [answer, CHANGED]],
  ])('asks again if the change arrives %s, in one chunk', async (_when, chunk) => {
    const client = await open({ listChanged: true });
    const question = await asking(client, 1);
    client.send(...chunk({ id: question.id, ...listing('file:///old') }));
    expect(textOfResponse(await client.response(1))).toBe('file:///old');
    const again = await asking(client, 2);
    client.send({ id: again.id, ...listing('file:///new') });
    expect(textOfResponse(await client.response(2))).toBe('file:///new');
    expect(textOfResponse(await client.call(3, 'where'))).toBe('file:///new');
  });
});
