// docs/guides/evals.md: its functions send what the APIs of models take, and read what they answer.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';

import { McpServer } from '@decorum/core';
import { expectTool, type Model, type ModelStep } from '@decorum/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { PagePrograms } from './running.js';
import { Weather } from './setup/weather.js';

interface Asked {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

let programs: PagePrograms;
let api: Server;
let asked: Asked | undefined;
let answer: { readonly status: number; readonly body: object };

beforeAll(async () => {
  programs = new PagePrograms('docs/guides/evals.md');
  api = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { url: path, headers } = request;
      asked = { path, headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => {
    api.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  Object.assign(process.env, { MODEL_URL: `${origin}/v1`, ANTHROPIC_URL: origin, MODEL: 'small' });
  Object.assign(process.env, { MODEL_KEY: 'key-1', ANTHROPIC_API_KEY: 'key-2' });
});
afterAll(async () => {
  programs.remove();
  for (const name of ['MODEL_URL', 'ANTHROPIC_URL', 'MODEL', 'MODEL_KEY', 'ANTHROPIC_API_KEY'])
    delete process.env[name];
  api.closeAllConnections();
  await new Promise((resolve) => api.close(resolve));
});

const exported = async <T>(block: string): Promise<T> =>
  (await import(pathToFileURL(programs.programOf(block)).href)) as T;

const weather = () =>
  new McpServer({ name: 'weather', version: '1.0.0', instructions: 'Be kind.', providers: [Weather] });

const chosen = async (model: Model) => await expectTool('Rain in Oslo?', { server: weather(), model }).choice();

describe('the function of docs/guides/evals.md', () => {
  it('for chat completions sends the tools, and reads the call', async () => {
    const { model } = await exported<{ model: Model }>('evals/model.ts');
    const call = { id: 'a', type: 'function', function: { name: 'forecast', arguments: '{"city":"Oslo"}' } };
    answer = {
      status: 200,
      body: { choices: [{ message: { role: 'assistant', content: null, tool_calls: [call] } }] },
    };
    expect(await chosen(model)).toMatchObject({ tool: 'forecast', arguments: { city: 'Oslo' }, problems: [] });
    expect(asked).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: 'Bearer key-1' } });
    expect(asked?.body).toMatchObject({
      model: 'small',
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Rain in Oslo?' },
      ],
      tools: [{ type: 'function', function: { name: 'forecast', parameters: { type: 'object' } } }],
    });
    answer = { status: 200, body: { choices: [{ message: { role: 'assistant', content: 'Bye' } }] } };
    expect(await chosen(model)).toMatchObject({ tool: undefined });
  });

  it('for messages sends the tools, and reads the call', async () => {
    const { model } = await exported<{ model: Model }>('evals/anthropic.ts');
    const text = { type: 'text', text: 'I look it up.' };
    const call = { type: 'tool_use', id: 'a', name: 'forecast', input: { city: 'Oslo' } };
    answer = { status: 200, body: { role: 'assistant', content: [text, call], stop_reason: 'tool_use' } };
    expect(await chosen(model)).toMatchObject({ tool: 'forecast', arguments: { city: 'Oslo' }, problems: [] });
    expect(asked).toMatchObject({
      path: '/v1/messages',
      headers: { 'x-api-key': 'key-2', 'anthropic-version': '2023-06-01' },
      body: {
        model: 'small',
        system: 'Be kind.',
        messages: [{ role: 'user', content: 'Rain in Oslo?' }],
        tools: [{ name: 'forecast', input_schema: { type: 'object' } }],
      },
    });
    answer = { status: 200, body: { role: 'assistant', content: [text], stop_reason: 'end_turn' } };
    expect(await chosen(model)).toMatchObject({ tool: undefined });
  });

  it.each(['evals/model.ts', 'evals/anthropic.ts'])('reports what the API refuses: %s', async (block) => {
    const { model } = await exported<{ model: Model }>(block);
    answer = { status: 429, body: { error: { message: 'Slow down' } } };
    await expect(chosen(model)).rejects.toThrow(/429 .*Slow down/);
  });

  it.each([
    ['chat completions', 'tool_call_id', [{ role: 'assistant' }, { role: 'tool', tool_call_id: 'call_0' }]],
    ['messages', 'tool_use_id', [{ role: 'assistant' }, { role: 'user', content: [{ tool_use_id: 'call_0' }] }]],
  ])('for the searches of %s adds a call and its result', async (_, text, messages) => {
    const { searched } = await exported<{ searched(steps: readonly ModelStep[]): object[] }>(text);
    const step = { tool: 'search_tools', arguments: { query: 'rain' }, result: 'forecast' };
    expect(searched([step])).toMatchObject(messages);
    expect(JSON.stringify(searched([step]))).toContain('rain');
  });
});
