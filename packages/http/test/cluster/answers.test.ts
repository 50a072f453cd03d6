// Answers that arrive at another process than the one that waits for them.
import { describe, expect, it } from '@jest/globals';
import { listen } from '@decorum/http';
import { afterwards } from '../fixture.js';
import { json, request } from '../messages.js';
import { post, statusOf } from '../sending.js';
import { answerTo, callAsking, openAsked, serveNodes } from './nodes.js';

const ACCEPTED = { action: 'accept', content: { name: 'Ada' } };
const SAMPLED = { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' };

const textOf = (message: unknown) =>
  (message as { readonly result?: { readonly content: readonly { readonly text: string }[] } }).result?.content[0]
    ?.text;

describe('an answer at another process', () => {
  it.each([
    ['ask', ACCEPTED, 'Hello, Ada'],
    ['sample', SAMPLED, 'Hi'],
    ['roots', { roots: [{ uri: 'file:///a' }] }, 'file:///a'],
    ['visit', { action: 'decline' }, 'decline'],
  ])('reaches the call that waits for it: %s', async (tool, answer, text) => {
    const { nodes } = await serveNodes();
    const session = await openAsked(nodes[0].url);
    for (const [asked, answered] of [
      [0, 1],
      [1, 2],
      [2, 2],
    ] as const) {
      const { stream, question } = await callAsking(nodes[asked].url, tool, session);
      expect(await statusOf(nodes[answered].url, session, answerTo(question, answer))).toBe(202);
      expect(textOf((await stream.message()).message)).toBe(text);
    }
  });

  it('that is an error reaches the call too', async () => {
    const { nodes } = await serveNodes();
    const session = await openAsked(nodes[0].url);
    const { stream, question } = await callAsking(nodes[0].url, 'sample', session);
    const error = { jsonrpc: '2.0', id: question.id, error: { code: -1, message: 'The user said no.' } };
    expect(await statusOf(nodes[1].url, session, error)).toBe(202);
    expect(textOf((await stream.message()).message)).toContain('The user said no.');
  });

  it('is accepted if it comes twice, or too late', async () => {
    const { nodes } = await serveNodes();
    const session = await openAsked(nodes[0].url);
    const { stream, question } = await callAsking(nodes[0].url, 'ask', session);
    expect(await statusOf(nodes[1].url, session, answerTo(question, ACCEPTED))).toBe(202);
    await stream.rest();
    for (const { url } of nodes) expect(await statusOf(url, session, answerTo(question, ACCEPTED))).toBe(202);
  });

  it('is refused if the process that waited has died', async () => {
    const { cluster, nodes } = await serveNodes();
    const session = await openAsked(nodes[0].url);
    const { question } = await callAsking(nodes[0].url, 'ask', session);
    cluster.kill(nodes[0].parts);
    const refused = await post(nodes[1].url, answerTo(question, ACCEPTED), session);
    expect(refused.status).toBe(400);
    expect((await json(refused)).error).toEqual({ code: -32600, message: expect.stringContaining('no longer waits') });
    // the session goes on
    expect(await statusOf(nodes[1].url, session)).toBe(200);
  });

  it('is accepted if no process has asked such a question', async () => {
    const { cluster, nodes } = await serveNodes();
    const session = await openAsked(nodes[0].url);
    for (const id of ['s1', 'nobody asked', 7]) {
      expect(await statusOf(nodes[1].url, session, answerTo({ id }, ACCEPTED))).toBe(202);
    }
    expect(cluster.letters.filter(({ letter }) => letter.kind === 'message')).toEqual([]);
  });
});

describe('two ports of one server', () => {
  it('pass on answers, and the end of a session, like two processes', async () => {
    const { nodes } = await serveNodes();
    const [{ url, server }] = nodes;
    const second = await listen(server, { port: 0 });
    afterwards(() => second.close());
    const session = await openAsked(url);
    const { stream, question } = await callAsking(url, 'sample', session);
    expect(await statusOf(second.url, session, answerTo(question, SAMPLED))).toBe(202);
    expect(textOf((await stream.message()).message)).toBe('Hi');
    // a late answer isn't passed to and fro
    expect(await statusOf(second.url, session, answerTo(question, SAMPLED))).toBe(202);
    const { stream: other } = await callAsking(url, 'ask', session);
    expect((await fetch(second.url, { method: 'DELETE', headers: session })).status).toBe(204);
    expect(JSON.stringify(await other.rest())).toContain('The session has ended');
  });
});

describe('an answer in a batch at another process', () => {
  it('reaches the call, and the rest of the batch is answered', async () => {
    const { nodes } = await serveNodes();
    const session = await openAsked(nodes[0].url, '2025-03-26');
    const { stream, question } = await callAsking(nodes[0].url, 'sample', session);
    const batch = [answerTo(question, SAMPLED), request('p', 'ping')];
    expect(await json(await post(nodes[1].url, batch, session))).toEqual([{ jsonrpc: '2.0', id: 'p', result: {} }]);
    expect(textOf((await stream.message()).message)).toBe('Hi');
  });

  it('is refused if the process that waited has died, unless the batch has requests', async () => {
    const { cluster, nodes } = await serveNodes();
    const session = await openAsked(nodes[0].url, '2025-03-26');
    const { question } = await callAsking(nodes[0].url, 'sample', session);
    cluster.kill(nodes[0].parts);
    const answer = answerTo(question, SAMPLED);
    expect(await statusOf(nodes[1].url, session, [answer])).toBe(400);
    expect(await statusOf(nodes[1].url, session, [answer, request('p', 'ping')])).toBe(200);
  });
});

describe('a courier that fails', () => {
  const fails = async () => await Promise.reject(new Error('no courier'));
  const broken = {
    'throws at once': () => {
      throw new Error('no courier');
    },
    'fails later': fails,
    hangs: () => new Promise<never>(() => {}),
  };

  it.each(Object.entries(broken))('and %s costs an answer a 503 in time', async (_how, send) => {
    const { nodes } = await serveNodes({ storeTimeoutMs: 20 }, {});
    const session = await openAsked(nodes[0].url);
    const { stream, question } = await callAsking(nodes[0].url, 'sample', session);
    const { courier } = nodes[1].parts;
    const works = courier.send;
    Object.assign(courier, { send });
    const answer = await post(nodes[1].url, answerTo(question, SAMPLED), session);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
    // cancellations and other requests don't wait for it
    expect(await statusOf(nodes[1].url, session, { jsonrpc: '2.0', method: 'notifications/cancelled' })).toBe(202);
    const setLevel = request(1, 'logging/setLevel', { level: 'error' });
    expect(await statusOf(nodes[1].url, session, setLevel)).toBe(200);
    // an answer that is malformed, too
    expect(await statusOf(nodes[1].url, session, { jsonrpc: '2.0', id: question.id })).toBe(400);
    Object.assign(courier, { send: works });
    expect(await statusOf(nodes[1].url, session, answerTo(question, SAMPLED))).toBe(202);
    expect(textOf((await stream.message()).message)).toBe('Hi');
  });
});
