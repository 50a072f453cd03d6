// Questions of tasks in 2025-11-25: clients are asked while they wait for the result.
/* oxlint-disable jest/no-standalone-expect -- inSessions registers a test */
import { describe, expect, it } from '@jest/globals';
import type { Context, JsonObject } from '@decorum/core';

import { overHttp } from '../support/http-transports.js';
import { type Message, overStdio, type RawClient } from '../support/raw-client.js';
import { itShows } from '../support/requirements.js';
import { ADA as ANSWER, ANSWERS, greet, NAME } from './rounds.js';
import { outcome } from './asking.js';
import {
  getTask,
  IN_SESSIONS,
  inSession,
  inSessions,
  RELATED,
  said,
  startTask,
  statusOf,
  taskServer,
  UNDECLARED,
} from './task-clients.js';

const ELICIT = 'elicitation/create';
const CANCELLED = 'notifications/cancelled';

/** The question at an index, once it has arrived. */
async function questionAt(client: RawClient, index: number): Promise<Message> {
  return await client.find((message) => client.of(ELICIT)[index] === message);
}

const answer = async (client: RawClient, { id }: Message, result: JsonObject = ANSWER) =>
  await client.send({ jsonrpc: '2.0', id, result });

/** Sends `tasks/result` without waiting for the response. */
const askResult = (client: RawClient, taskId: string, id: string) =>
  void client.send(client.buildMessage(id, 'tasks/result', { taskId }));

/** The request ids of the questions that the server has taken back. */
const takenBack = (client: RawClient) => client.of(CANCELLED).map(({ params }) => params?.['requestId']);

describe('questions of tasks', () => {
  inSessions(
    ['TASKL-12', 'TASKL-13', 'TASKL-14', 'TASKL-16', 'TASKL-29'],
    'a task that asks waits for input, asks while its result is awaited, and then goes on',
    async (transport) => {
      const tasks = { requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } };
      for (const capabilities of [UNDECLARED, { ...UNDECLARED, tasks }]) {
        const client = await inSession(taskServer({ greet }), transport, { capabilities });
        const { taskId } = await startTask(client, 'greet');
        await statusOf(client, taskId, 'input_required');
        askResult(client, taskId, 'waits');
        const question = await questionAt(client, 0);
        // never as a task of the client's
        expect(question.params).toEqual({
          mode: 'form',
          message: 'Who are you?',
          requestedSchema: expect.objectContaining(NAME),
          _meta: { [RELATED]: { taskId } },
        });
        await client.settled();
        expect(client.received.some(({ id }) => id === 'waits')).toBe(false);
        expect(await getTask(client, taskId)).toMatchObject({ status: 'input_required' });
        await answer(client, question);
        expect((await client.response('waits')).result).toEqual({
          ...said('Hello, Ada'),
          _meta: { [RELATED]: { taskId } },
        });
        expect(await getTask(client, taskId)).toMatchObject({ status: 'completed' });
        expect(client.of(ELICIT)).toHaveLength(1);
      }
    },
  );

  inSessions(['TASKL-12'], 'several questions are asked at once, and each later one in its turn', async (transport) => {
    const many = async (context: Context) => {
      const both = await Promise.all([context.confirm('Left?'), context.confirm('Fast?')]);
      const last = await context.sample({ messages: 'Hi', maxTokens: 5 });
      return [...both, last.text, (await context.roots()).length].join();
    };
    const client = await inSession(taskServer({ many }), transport, { answers: ANSWERS });
    const { taskId } = await startTask(client, 'many');
    expect(await client.result('tasks/result', { taskId })).toMatchObject(said('true,true,Ho,1'));
    for (const { params } of client.questions) expect(params).toMatchObject({ _meta: { [RELATED]: { taskId } } });
    expect(client.questions).toHaveLength(4);
  });

  inSessions(['TASKL-16'], 'only the latest of several requests for a result asks', async (transport) => {
    const client = await inSession(taskServer({ greet }), transport);
    const { taskId } = await startTask(client, 'greet');
    await statusOf(client, taskId, 'input_required');
    askResult(client, taskId, 'first');
    const before = await questionAt(client, 0);
    askResult(client, taskId, 'second');
    const question = await questionAt(client, 1);
    await client.find(({ method }) => method === CANCELLED);
    expect(takenBack(client)).toEqual([before.id]);
    await answer(client, question);
    for (const id of ['first', 'second']) expect((await client.response(id)).result).toMatchObject(said('Hello, Ada'));
    expect(client.of(ELICIT)).toHaveLength(2);
  });

  inSessions(['TASKL-16'], 'a client that stops to wait can come back, and is asked again', async (transport) => {
    const client = await inSession(taskServer({ greet }), transport);
    const { taskId } = await startTask(client, 'greet');
    await statusOf(client, taskId, 'input_required');
    askResult(client, taskId, 'first');
    const before = await questionAt(client, 0);
    await client.cancel('first');
    await client.find(({ params }) => params?.['requestId'] === before.id);
    expect(await getTask(client, taskId)).toMatchObject({ status: 'input_required' });
    askResult(client, taskId, 'second');
    await answer(client, await questionAt(client, 1));
    expect((await client.response('second')).result).toMatchObject(said('Hello, Ada'));
    expect(client.received.some(({ id }) => id === 'first')).toBe(false);
  });

  itShows([['TASKL-16', IN_SESSIONS]], 'a stream that was dropped keeps nobody from asking', async () => {
    const client = await inSession(taskServer({ greet }), overHttp);
    const { taskId } = await startTask(client, 'greet');
    askResult(client, taskId, 'first');
    await questionAt(client, 0);
    await client.resume('first', async () => {
      askResult(client, taskId, 'second');
      await answer(client, await questionAt(client, 1));
      expect((await client.response('second')).result).toMatchObject(said('Hello, Ada'));
    });
    expect((await client.response('first')).result).toMatchObject(said('Hello, Ada'));
  });

  inSessions(['TASKL-21'], 'the question of a cancelled task is taken back before the response', async (transport) => {
    const client = await inSession(taskServer({ greet }), transport);
    const { taskId } = await startTask(client, 'greet');
    askResult(client, taskId, 'waits');
    const { id } = await questionAt(client, 0);
    await client.result('tasks/cancel', { taskId });
    expect(await client.response('waits')).toHaveProperty('error');
    expect(takenBack(client)).toEqual([id]);
  });

  it.each([
    ['an error', { error: { code: -1, message: 'The user is away.' } }, 'client error -1', 1],
    ['an unknown action', { result: { action: 'shrug' } }, 'client error undefined', 5],
    ['content that does not fit', { result: { action: 'accept', content: { name: 5 } } }, 'ToolError: The answer', 5],
  ])('a client that answers with %s gets the result of that', async (_what, wrong, expected, times) => {
    for (const transport of [overStdio, overHttp]) {
      const ask = outcome((context) => context.elicit(NAME, { message: 'Who?' }));
      const client = await inSession(taskServer({ ask }), transport, { answers: { [ELICIT]: () => wrong } });
      const { taskId } = await startTask(client, 'ask');
      const { content } = await client.result('tasks/result', { taskId });
      expect((content as { text: string }[])[0]?.text).toContain(expected);
      expect(client.questions).toHaveLength(times);
    }
  });

  it('a client that can not answer is not asked, and waits for one that can', async () => {
    const server = taskServer({ greet });
    for (const transport of [overStdio, overHttp]) {
      const principal = { subject: 'ada' };
      const able = await inSession(server, transport, { principal, answers: ANSWERS });
      const { taskId } = await startTask(able, 'greet');
      const unable = await inSession(server, transport, { principal, capabilities: { roots: {} } });
      askResult(unable, taskId, 'waits');
      await unable.settled();
      expect(unable.questions).toEqual([]);
      expect(await able.result('tasks/result', { taskId })).toMatchObject(said('Hello, Ada'));
      expect((await unable.response('waits')).result).toMatchObject(said('Hello, Ada'));
      expect(unable.questions).toEqual([]);
    }
  });

  it('a server that closes ends the wait for an answer', async () => {
    const server = taskServer({ greet });
    const client = await inSession(server, overStdio);
    const { taskId } = await startTask(client, 'greet');
    askResult(client, taskId, 'waits');
    const { id } = await questionAt(client, 0);
    const closing = server.close();
    expect(await client.response('waits')).toHaveProperty('error');
    expect(takenBack(client)).toEqual([id]);
    await closing;
  });
});
