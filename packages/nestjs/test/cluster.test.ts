import { Context, NoInput, Tool } from '@decorum/core';
import type { McpModuleOptions } from '@decorum/nestjs';
import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

import { EventReader } from '../../http/test/events.js';
import { call, openSession, post } from '../../http/test/fixture.js';
import { MemoryCluster } from '../../../test/support/memory-cluster.js';
import { closing, forRoot, moduleOf, PLATFORMS, QUIET } from './fixture.js';

@Injectable()
class Shop {
  @Tool() async order(_input: NoInput, ctx: Context) {
    return (await ctx.confirm('Order?')) ? 'ordered' : 'not ordered';
  }
}

describe.each(PLATFORMS)('two applications on %s', (_platform, adapter) => {
  async function urlOf(options: Partial<McpModuleOptions>): Promise<string> {
    const module = moduleOf({ imports: [forRoot({ secret: 's'.repeat(32), ...options })], providers: [Shop] });
    const app = closing(await NestFactory.create(module, adapter(), QUIET));
    await app.listen(0, '127.0.0.1');
    return `${await app.getUrl()}/mcp`;
  }

  it.each([
    ['`cluster`', (shared: MemoryCluster) => ({ cluster: shared.node() })],
    [
      'the parts of a cluster',
      (shared: MemoryCluster) => {
        const { sessions: sessionStore, events, bus: changeBus, courier, singleUse } = shared.node();
        return { sessionStore, events, changeBus, courier, singleUse, storeTimeoutMs: 5000 };
      },
    ],
  ])('share a session over %s: a question of one is answered at the other', async (_what, optionsOf) => {
    const shared = new MemoryCluster();
    const [here, elsewhere] = [await urlOf(optionsOf(shared)), await urlOf(optionsOf(shared))];
    const session = await openSession(here);
    const stream = new EventReader(await post(here, call(1, 'order'), session));
    const { message: question } = await stream.message();
    const answer = { jsonrpc: '2.0', id: question?.id, result: { action: 'accept', content: { answer: true } } };
    expect((await post(elsewhere, answer, session)).status).toBe(202);
    expect((await stream.message()).message?.result).toMatchObject({ content: [{ text: 'ordered' }] });
  });
});
