// A search in a Nest application: guards see the tool that is meant.
import { search } from '@decorum/search';
import { McpExecutionContext } from '@decorum/nestjs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { z } from 'zod';

import { serve, Shop, textIn } from './fixture.js';

const asked: string[] = [];

afterEach(() => void asked.splice(0));

/** Denies a tool, and remembers what was called. */
class Guard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const { member } = McpExecutionContext.from(context);
    asked.push(member.name);
    return member.name !== 'refund';
  }
}

describe('a search in an application of Nest', () => {
  it('runs inside its guards, which see the tool that a call means', async () => {
    const { server, client } = await serve([Shop, { provide: APP_GUARD, useClass: Guard }], {
      plugins: [search({ above: 0 })],
    });
    const input = z.object({ order: z.string() });
    server.addTool({ name: 'refund', description: 'Refunds an order', input }, () => 'refunded');
    server.addTool({ name: 'cancel', description: 'Cancels an order', input }, ({ order }) => `cancelled ${order}`);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['search_tools', 'call_tool']);
    const found = await client.callTool('search_tools', { query: 'cancel an order' });
    expect(textIn(found)).toContain('cancel\nCancels an order');
    const call = (name: string) => client.callTool('call_tool', { name, arguments: { order: '7' } });
    expect(textIn(await call('cancel'))).toBe('cancelled 7');
    expect(await call('refund')).toMatchObject({ isError: true, content: [{ text: 'Forbidden resource' }] });
    expect(asked.slice(-3)).toEqual(['search_tools', 'cancel', 'refund']);
    await client.close();
  });
});
