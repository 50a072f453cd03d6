// Several nodes of a cluster in one process, each with a server and an endpoint of its own.
import { setImmediate as turn } from 'node:timers/promises';

import { Context, type McpServerOptions, NoInput, Resource, Tool } from '@decorum/core';
import type { Cluster, ListenOptions } from '@decorum/http';

import { MemoryCluster } from '../../../../test/support/memory-cluster.js';
import { EventReader, type ServerEvent } from '../events.js';
import { serve, type Served } from '../fixture.js';
import { call, type Fields, INITIALIZED, request } from '../messages.js';
import { post } from '../sending.js';

/** Asks clients, and follows their settings. */
export class Asker {
  @Tool({ description: 'Asks the model' })
  async sample(_input: NoInput, ctx: Context) {
    const { text } = await ctx.sample({ messages: 'Hello', maxTokens: 9 });
    return text;
  }

  @Tool({ description: 'Asks for the roots' })
  async roots(_input: NoInput, ctx: Context) {
    return (await ctx.roots()).map(({ uri }) => uri).join();
  }

  @Tool({ description: 'Sends the user to a page' })
  async visit(_input: NoInput, ctx: Context) {
    return (await ctx.elicitUrl({ message: 'Pay', url: 'https://example.com/pay' })).action;
  }

  @Resource('docs://page/{number}', { name: 'page' })
  page() {
    return 'text';
  }
}

export interface Node extends Served {
  readonly parts: Cluster;
}

/** Serves several nodes of one cluster until the end of the test. */
export async function serveNodes<T extends readonly unknown[] = [Node, Node, Node]>(
  options: ListenOptions = {},
  more: Partial<McpServerOptions> & { readonly spoil?: (parts: Cluster) => Cluster } = {},
): Promise<{ readonly cluster: MemoryCluster; readonly nodes: T }> {
  const cluster = new MemoryCluster();
  const { spoil = (parts) => parts, ...rest } = more;
  const nodes: Node[] = [];
  for (let n = 0; n < 3; n += 1) {
    const parts = spoil(cluster.node());
    const settings = {
      secret: 'the same for all processes, 32 bytes',
      cluster: parts,
      providers: [new Asker()],
      ...rest,
    };
    nodes.push({ ...(await serve(options, settings)), parts });
  }
  return { cluster, nodes: nodes as unknown as T };
}

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

/** Initializes a session whose client can answer all questions. */
export async function openAsked(url: string, version = '2025-11-25'): Promise<Fields> {
  const clientInfo = { name: 'test', version: '1.0.0' };
  const params = { protocolVersion: version, capabilities: CAPABILITIES, clientInfo };
  const response = await post(url, request(0, 'initialize', params));
  await response.text();
  const session = {
    'mcp-session-id': response.headers.get('mcp-session-id') as string,
    'mcp-protocol-version': version,
  };
  await post(url, INITIALIZED, session);
  return session;
}

/** Calls a tool that asks. Resolves with its stream, and the question. */
export async function callAsking(
  url: string,
  tool: string,
  session: Fields,
): Promise<{ readonly stream: EventReader; readonly question: NonNullable<ServerEvent['message']> }> {
  const stream = new EventReader(await post(url, call(7, tool), session));
  const { message } = await stream.message();
  return { stream, question: message as NonNullable<ServerEvent['message']> };
}

/** The answer to a question. */
export const answerTo = ({ id }: { readonly id?: unknown }, result: object) => ({ jsonrpc: '2.0', id, result });

/** Lets everything that is on its way between the nodes arrive. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 20; n += 1) await turn();
}
