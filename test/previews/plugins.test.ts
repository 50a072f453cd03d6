// Plans and their tickets in calls that run as tasks, and in those of `call_tool`.
import { type CallToolResult, type Context, McpServer, Tool } from '@decorum/core';
import { search } from '@decorum/search';
import { tasks } from '@decorum/tasks';
import { connect, revisions } from '@decorum/testing';
import { expect, it } from '@jest/globals';

import { Notes, Search, textOf, ticketOf } from './notes.js';

class Chores extends Notes {
  @Tool({ description: 'Deletes notes later', preview: 'plan', task: 'optional' })
  async later(query: Search, ctx: Context) {
    const sure = await ctx.confirm('Sure?');
    await ctx.once('wait', () => {});
    return `${this.prune(query, ctx)} ${sure}`;
  }
}

it.each(revisions.slice(3))('a call with a ticket runs as a task, in %s', async (revision) => {
  const chores = new Chores();
  const server = new McpServer({ name: 'notes', version: '1', providers: [chores], plugins: [tasks()] });
  const onElicit = () => ({ action: 'accept', content: {} }) as const;
  const client = await connect(server, { revision, onElicit });
  const shown = await client.callTool('later', { text: 'old' }, { task: true });
  const ticket = ticketOf(shown);
  const result = await client.callTool('later', { text: 'old', ticket }, { task: true });
  expect(textOf(result as CallToolResult)).toBe('done true');
  expect(chores.done).toEqual([{ plan: 1 }]);
  const again = await client.callTool('later', { text: 'old', ticket }, { task: true });
  expect(again).toMatchObject({ isError: true });
  await client.close();
  await server.close();
});

it('a ticket passes through call_tool, and back', async () => {
  const notes = new Notes();
  const server = new McpServer({ name: 'notes', version: '1', providers: [notes], plugins: [search({ above: 0 })] });
  const client = await connect(server);
  const call = async (args: object) =>
    (await client.callTool('call_tool', { name: 'prune', arguments: args })) as CallToolResult;
  const ticket = ticketOf(await call({ text: 'old' }));
  expect(textOf(await call({ text: 'old', ticket }))).toBe('done');
  const direct = ticketOf(await call({ text: 'old' }));
  expect(textOf((await client.callTool('prune', { text: 'old', ticket: direct })) as CallToolResult)).toBe('done');
});
