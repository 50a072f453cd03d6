// Tools of extensions, called through `call_tool`.
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';

import { App, apps } from '@decorum/apps';
import { type Context, McpServer, NoInput, Tool } from '@decorum/core';
import { search } from '@decorum/search';
import { tasks } from '@decorum/tasks';

import { callOf, clientOf, closeAll, found, namesOf, textOf } from './clients.js';

afterEach(closeAll);

class Reports {
  @Tool({ description: 'Builds the yearly report', task: 'optional' })
  async yearly(_input: NoInput, ctx: Context) {
    await turn();
    return `report for ${ctx.client.info?.name}`;
  }
  @Tool({ description: 'Builds the report of ten years', task: 'required' })
  async decade() {
    await turn();
    return 'ten years';
  }
}

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } } as never;

describe('a tool that runs as a task', () => {
  const served = () =>
    new McpServer({
      name: 'reports',
      version: '1.0.0',
      providers: [Reports],
      plugins: [tasks(), search({ above: 0 })],
    });

  it('starts one through call_tool, for clients that support tasks', async () => {
    const client = await clientOf(served(), { revision: '2026-07-28', capabilities: TASKS });
    const params = { name: 'call_tool', arguments: { name: 'yearly', arguments: {} } };
    const created = await client.request<{ resultType: string; taskId: string }>('tools/call', params);
    expect(created).toMatchObject({ resultType: 'task', taskId: expect.any(String) });
    const ended = await client.request<{ status: string }>('tasks/get', { taskId: created.taskId });
    expect(['working', 'completed']).toContain(ended.status);
  });

  it('answers itself for others', async () => {
    const client = await clientOf(served(), { clientInfo: { name: 'ann', version: '1' } });
    expect(textOf(await callOf(client, 'yearly', {}))).toBe('report for ann');
  });

  it('is listed if clients may only call it as one, because they have to know that', async () => {
    const client = await clientOf(served(), { revision: '2025-11-25' });
    expect(await namesOf(client)).toEqual(['search_tools', 'call_tool', 'decade']);
  });
});

class Weather {
  @Tool({ description: 'Tells the weather', ui: 'ui://weather/card' })
  forecast() {
    return 'Sunny';
  }
  @Tool({ description: 'Reloads the weather', ui: { visibility: ['app'] } })
  reload() {
    return 'Reloaded';
  }
  @Tool({ description: 'Measures the weather' })
  measure() {
    return '21 °C';
  }
  @App('ui://weather/card')
  card() {
    return '<!doctype html><title>Weather</title>';
  }
}

describe('tools with pages', () => {
  const extensions = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
  const served = () =>
    new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather], plugins: [search({ above: 0 }), apps()] });

  it('are listed, because hosts read of pages there, and models find no tools of pages', async () => {
    const client = await clientOf(served(), { capabilities: { extensions } as never });
    expect(await namesOf(client)).toEqual(['search_tools', 'call_tool', 'forecast', 'reload']);
    expect((await found(client, 'weather')).toSorted()).toEqual(['forecast', 'measure']);
    const plain = await clientOf(served());
    expect((await found(plain, 'weather')).toSorted()).toEqual(['forecast', 'measure']);
  });
});
