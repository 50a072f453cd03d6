// Tags that a session shows and hides, seen from all processes that serve it.
import { describe, expect, it } from '@jest/globals';
import { Context, Tool } from '@decorum/core';
import { type Cluster, MemorySessionStore } from '@decorum/http';

import { getStream } from '../events.js';
import { byUser as principal, serve } from '../fixture.js';
import { call, json, request } from '../messages.js';
import { openSession, post } from '../sending.js';
import { serveNodes } from './nodes.js';

class Desk {
  @Tool({ description: 'Wipes', tags: ['admin'] })
  wipe() {
    return 'wiped';
  }

  @Tool({ description: 'Files', tags: ['files'] })
  file() {
    return 'filed';
  }

  @Tool({ description: 'Shows and hides', input: { type: 'object' } })
  async turn({ show = [], hide = [] }: { show?: string[]; hide?: string[] }, { visibility }: Context) {
    if (show.length > 0) await visibility.show(...(show as [string]));
    if (hide.length > 0) await visibility.hide(...(hide as [string]));
  }
}

const OPTIONS = { hiddenTags: ['admin'], providers: [new Desk()] };

interface Listed {
  readonly result: { readonly tools: readonly { readonly name: string }[] };
}

async function tools(url: string, headers: Record<string, string>): Promise<readonly string[]> {
  const { result } = (await json(await post(url, request('list', 'tools/list'), headers))) as unknown as Listed;
  return result.tools.map(({ name }) => name).filter((name) => ['wipe', 'file'].includes(name));
}

describe('what a session shows and hides', () => {
  it('holds in every process, and is told where its client reads, once', async () => {
    const { nodes } = await serveNodes({}, OPTIONS);
    const session = await openSession(nodes[0].url);
    const stream = await getStream(nodes[1].url, session);
    for (const { url } of nodes) expect(await tools(url, session)).toEqual(['file']);
    await post(nodes[2].url, call(7, 'turn', { show: ['admin'], hide: ['files'] }), session);
    for (const { url } of nodes) expect(await tools(url, session)).toEqual(['wipe']);
    nodes[0].server.notify.promptsChanged();
    const methods = [];
    while (methods.at(-1) !== 'notifications/prompts/list_changed')
      methods.push((await stream.message()).message?.method);
    expect(methods.filter((method) => method !== 'notifications/prompts/list_changed')).toEqual([
      'notifications/tools/list_changed',
      'notifications/tools/list_changed',
    ]);
  });

  it('is kept together if several processes change it at once', async () => {
    const { nodes } = await serveNodes({}, OPTIONS);
    const session = await openSession(nodes[0].url);
    const turns = [{ show: ['admin'] }, { hide: ['files'] }, { show: ['more'] }];
    await Promise.all(
      turns.map((args, node) => post((nodes[node] as { url: string }).url, call(node, 'turn', args), session)),
    );
    for (const { url } of nodes) expect(await tools(url, session)).toEqual(['wipe']);
  });

  it('survives a restart with the record of its session', async () => {
    const sessionStore = new MemorySessionStore();
    const more = { ...OPTIONS, secret: 'the same for all processes, 32 bytes' };
    const first = await serve({ sessionStore }, more);
    const session = await openSession(first.url);
    await post(first.url, call(7, 'turn', { hide: ['files'] }), session);
    await first.close();
    // a server that hides nothing at first, either
    const second = await serve({ sessionStore }, { ...more, hiddenTags: [] });
    expect(await tools(second.url, session)).toEqual(['wipe']);
    const other = await openSession(second.url);
    expect(await tools(second.url, other)).toEqual(['wipe', 'file']);
  });

  it('is hidden from the principal that adopts an anonymous session, in every process', async () => {
    const { nodes } = await serveNodes({ principal }, OPTIONS);
    const session = await openSession(nodes[0].url);
    await post(nodes[1].url, call(7, 'turn', { show: ['admin'], hide: ['files'] }), session);
    const ann = { ...session, 'x-user': 'ann' };
    for (const { url } of [nodes[2], nodes[0], nodes[1]]) expect(await tools(url, ann)).toEqual([]);
  });

  it('is not saved if the store fails, and the tool fails', async () => {
    let isDown = false;
    const spoil = (parts: Cluster): Cluster => ({
      ...parts,
      sessions: {
        ...parts.sessions,
        set: (...args) => {
          if (isDown) throw new Error('no store');
          return parts.sessions.set(...args);
        },
      },
    });
    const { nodes } = await serveNodes({}, { ...OPTIONS, spoil });
    const session = await openSession(nodes[0].url);
    isDown = true;
    const answer = await json(await post(nodes[0].url, call(7, 'turn', { show: ['admin'] }), session));
    isDown = false;
    expect(JSON.stringify(answer)).toContain('rror');
    for (const { url } of nodes) expect(await tools(url, session)).toEqual(['file']);
  });
});

it('a server without sessions hides tags from everybody, and its tools can show none', async () => {
  const { url, errors } = await serve({ sessions: false }, OPTIONS);
  expect(await tools(url, {})).toEqual(['file']);
  await post(url, call(7, 'turn', { show: ['admin'] }));
  expect(String(errors[0])).toContain('this request has none');
});
