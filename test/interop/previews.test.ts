// Plans, as the clients of the official SDK see them: they check results against the published schema.
import { type Context, McpServer, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const Search = z.object({ text: z.string() });
type Search = z.infer<typeof Search>;

interface Plan {
  readonly ids: readonly number[];
}

class Notes {
  plan({ text }: Search): Plan {
    return { ids: [text.length] };
  }

  @Tool({ input: Search, preview: 'plan' }) prune(_query: Search, ctx: Context<Plan>) {
    return `Deleted ${ctx.plan.ids.join()}.`;
  }

  @Tool({ input: Search, output: z.object({ deleted: z.number() }), preview: 'plan' })
  typed(_query: Search, ctx: Context<Plan>) {
    return { deleted: ctx.plan.ids.length };
  }

  @Tool({ input: Search, output: z.array(z.number()), preview: 'plan' })
  listed(_query: Search, ctx: Context<Plan>) {
    return [...ctx.plan.ids];
  }

  @Tool({ input: Search, output: z.object({ deleted: z.number() }), preview: { by: 'plan', ask: true } })
  asked(_query: Search, ctx: Context<Plan>) {
    return { deleted: ctx.plan.ids.length };
  }
}

interface Result {
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** What both versions have. */
interface Client {
  listTools(): Promise<unknown>;
  callTool(params: { name: string; arguments: Record<string, unknown>; _meta?: object }): Promise<unknown>;
  close(): Promise<void>;
}

const INFO = { name: 'interop', version: '1.0.0' };
const server = new McpServer({ name: 'notes', version: '1.0.0', providers: [Notes] });
let endpoint: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  endpoint = await listen(server, { port: 0 });
});
afterAll(async () => {
  await endpoint.close();
  await server.close();
});

const CLIENTS: Readonly<Record<string, (answer?: 'accept' | 'decline') => Promise<Client>>> = {
  '1.x': async (action) => {
    const client = new ClientV1(INFO, { capabilities: action ? { elicitation: {} } : {} });
    if (action) client.setRequestHandler(ElicitRequestSchema, () => ({ action, content: {} }));
    await client.connect(new HttpV1(new URL(endpoint.url)));
    return client as unknown as Client;
  },
  '2.x': async (action) => {
    const client = new ClientV2(INFO, { capabilities: action ? { elicitation: {} } : {} });
    if (action) client.setRequestHandler('elicitation/create', () => ({ action, content: {} }));
    await client.connect(new HttpV2(new URL(endpoint.url)));
    return client as unknown as Client;
  },
};

describe.each(Object.entries(CLIENTS))('the official client %s', (_version, connected) => {
  it.each([
    ['prune', { ids: [3] }, undefined],
    ['typed', { plan: { ids: [3] }, ticket: expect.any(String) }, { deleted: 1 }],
    ['listed', { result: { plan: { ids: [3] }, ticket: expect.any(String) } }, { result: [3] }],
    ['asked', { plan: { ids: [3] }, ticket: expect.any(String) }, { deleted: 1 }],
  ])('gets a plan of %s, and carries it out', async (name, plan, outcome) => {
    const client = await connected();
    // from here on it checks results against the schemas
    await client.listTools();
    const shown = (await client.callTool({ name, arguments: { text: 'old' } })) as Result;
    expect(shown.structuredContent).toEqual(plan);
    const { _meta: meta } = shown;
    const ticket = meta?.['dev.decorum/ticket'];
    expect(shown.content.at(-1)?.text).toContain(`ticket: ${ticket}`);
    const result = (await client.callTool({ name, arguments: { text: 'old', ticket } })) as Result;
    expect(result.isError).toBeUndefined();
    expect(result.structuredContent).toEqual(outcome);
    const again = (await client.callTool({ name, arguments: { text: 'old', ticket } })) as Result;
    expect(again).toMatchObject({ isError: true });
    await client.close();
  });

  it('asks its user', async () => {
    const client = await connected('accept');
    await client.listTools();
    const result = (await client.callTool({ name: 'asked', arguments: { text: 'old' } })) as Result;
    expect(result.structuredContent).toEqual({ deleted: 1 });
    await client.close();
  });

  it('gets an error if its user declines', async () => {
    const client = await connected('decline');
    await client.listTools();
    const result = (await client.callTool({ name: 'asked', arguments: { text: 'old' } })) as Result;
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('did not confirm') }] });
    await client.close();
  });
});
