import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { type Context, McpServer, needInput, NoInput } from '@decorum/core';
import { connect } from '@decorum/testing';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const ACCEPTED = { action: 'accept', content: { name: 'Ada' } } as const;

type Handler = (ctx: Context) => unknown;

const answers = { onElicit: () => ACCEPTED, onRoots: () => [{ uri: 'file:///a' }] };

/** A server with one tool, and its masked errors. */
function serverOf(handler: Handler) {
  const errors: unknown[] = [];
  const logger = { warn: () => {}, error: () => {} };
  const server = new McpServer({ name: 'test', version: '1', logger, onError: (error) => void errors.push(error) });
  server.addTool({ name: 'tool', input: NoInput }, (_input, ctx) => handler(ctx));
  return { server, errors };
}

/** Calls a tool by replay. */
const replay = async ({ server }: ReturnType<typeof serverOf>, more: object = {}) =>
  await (await connect(server, { era: 'stateless', ...answers, ...more })).callTool('tool');

/** Throws after too many turns, so that an endless synchronous loop fails the test instead of blocking it. */
function turns(most: number): () => void {
  let turn = 0;
  return () => {
    turn += 1;
    if (turn > most) throw new Error('Nothing ends the loop.');
  };
}

/** Keeps asking, even after errors. */
const stubborn = (turn: () => void, ended: (error: unknown) => void): Handler => {
  const loop = async (ctx: Context) => {
    for (;;) {
      turn();
      try {
        return (await ctx.elicit(NAME, { message: 'Who?' })).action;
      } catch {}
    }
  };
  return (ctx) =>
    loop(ctx).catch((error: unknown) => {
      ended(error);
      throw error;
    });
};

describe('a loop of pings', () => {
  it('yields to others if the client has no ping', async () => {
    const test = { isOver: false };
    const { server } = serverOf(async (ctx) => {
      while (!test.isOver) await ctx.ping().catch(() => {});
      return 'over';
    });
    const called = replay({ server, errors: [] });
    await wait(20);
    test.isOver = true;
    expect((await called).content).toEqual([{ type: 'text', text: 'over' }]);
  });
});

describe('a loop of questions', () => {
  it('with one key is an error, even if all questions are equal', async () => {
    const turn = turns(1000);
    const made = serverOf(async (ctx) => {
      for (;;) {
        turn();
        const { action } = await ctx.elicit(NAME, { message: 'Guess', key: 'guess' });
        if (action !== 'accept') return action;
      }
    });
    await expect(replay(made)).rejects.toThrow(/^Internal error/);
    expect(made.errors.map(String)).toEqual([
      'Error: Two questions of one handler have the key "guess". Give each a unique key.',
    ]);
  });

  it('is an error too if the questions are returned', async () => {
    const made = serverOf((ctx) => {
      const question = { method: 'roots/list' } as const;
      return ctx.answers?.['more'] ? 'done' : needInput({ where: question, ...(ctx.answers && { more: question }) });
    });
    await expect(replay(made)).rejects.toThrow(/^Internal error/);
    expect(made.errors.map(String)).toEqual([expect.stringMatching('"where"')]);
  });

  it('cannot be swallowed', async () => {
    const made = serverOf(async (ctx) => {
      await ctx.elicit(NAME, { message: 'Guess', key: 'guess' });
      await ctx.elicit(NAME, { message: 'Guess', key: 'guess' }).catch(() => {});
      return 'swallowed';
    });
    await expect(replay(made)).rejects.toThrow(/^Internal error/);
  });

  it('that catches everything and asks forever is answered with an error, and stops', async () => {
    const ended: unknown[] = [];
    let count = 0;
    const turn = turns(1000);
    const made = serverOf(
      stubborn(
        () => {
          count += 1;
          turn();
        },
        (error) => ended.push(error),
      ),
    );
    await expect(replay(made)).rejects.toThrow(/^Internal error/);
    expect(made.errors.map(String)).toEqual([
      'Error: A handler asked 100 questions for one request. Check it for an endless loop. ' +
        'If it catches errors from questions, rethrow InputSignal.',
    ]);
    await wait(100);
    const reached = count;
    await wait(100);
    expect(count).toBe(reached);
    expect(ended).toEqual([]);
  });

  it.each(['stateful', 'stateless'] as const)('yields to others if the client cannot be asked: %s', async (era) => {
    let running = true;
    const turn = turns(100_000);
    const made = serverOf(
      stubborn(
        () => {
          turn();
          if (!running) throw new Error('stopped');
        },
        () => {},
      ),
    );
    const client = await connect(made.server, { era, capabilities: {} });
    const call = client.callTool('tool').catch(() => {});
    await wait(50);
    running = false;
    await call;
    expect(made.errors.map(String)).toEqual(['Error: stopped']);
  });
});
