// The servers of a page about another framework, before and after, with an official client each.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import { overhear } from '../interop/overhear.js';
import { PageProcess, type PagePrograms } from './running.js';

type Headers = Readonly<Record<string, string>>;

/** What a client asks of a server. */
export type Look = (client: Client) => Promise<unknown>;

/** A server that runs, and its client. */
export interface Side {
  readonly server: PageProcess;
  readonly client: Client;
  /** What the client has received. */
  readonly heard: ReturnType<typeof overhear>;
}

/** The running servers of a page. */
export class Sides {
  private constructor(readonly all: readonly Side[]) {}

  /**
   * @param files the file names of the blocks that serve, as the page gives them
   * @param headers what the clients send
   */
  static async start(programs: PagePrograms, files = ['before.ts', 'after.ts'], headers: Headers = {}): Promise<Sides> {
    const all = files.map(async (file) => {
      const server = await PageProcess.start(programs.programOf(file));
      return { server, ...(await connectTo(server, headers)) };
    });
    return new Sides(await Promise.all(all));
  }

  /** Asks all servers the same. */
  async ask(look: Look): Promise<unknown[]> {
    return await Promise.all(this.all.map(({ client }) => look(client)));
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.all.map(async ({ server, client }) => {
        await client.close();
        await server.stop();
      }),
    );
  }
}

/** Connects an official client, which answers every question with seven days. */
export async function connectTo(server: PageProcess, headers: Headers): Promise<Omit<Side, 'server'>> {
  const client = new Client({ name: 'reader', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { days: 7 } }));
  const transport = new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`), { requestInit: { headers } });
  const heard = overhear(transport);
  await client.connect(transport);
  return { client, heard };
}

/** The code of the error that an answer is, or 0. */
export const codeOf = async (answer: Promise<unknown>): Promise<number> =>
  await answer.then(
    () => 0,
    (error: { readonly code: number }) => error.code,
  );

/** A value without what the pages say of schemas and tools: `$schema`, `additionalProperties` and `execution` differ. */
export function alike(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(alike);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !['$schema', 'additionalProperties', 'execution'].includes(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, alike(item)]));
}
