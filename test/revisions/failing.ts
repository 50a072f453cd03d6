// Members of a stateless server that fail in all possible ways, and requests that make them fail.
import { Completion, type Context, type JsonObject, McpError, Prompt, Resource, Tool } from '@decorum/core';
import { IsString } from 'class-validator';

import type { Message } from '../support/raw-client.js';
import { answerTo, asked, called, declares, PREFIX, VERSION } from '../support/stateless-post.js';
import { serverOf } from './servers.js';

/** Asks the client's model. */
export const sample = async (context: Context) => (await context.sample({ messages: 'Hi', maxTokens: 1 })).text;

class City {
  @IsString()
  city!: string;
}

/** Questions that need a capability of the client. */
async function question(how: string, ctx: Context) {
  if (how === 'sample') return await sample(ctx);
  if (how === 'use') return (await ctx.sample({ messages: 'Hi', maxTokens: 1, tools: [], toolChoice: {} })).text;
  if (how === 'context') return (await ctx.sample({ messages: 'Hi', maxTokens: 1, includeContext: 'thisServer' })).text;
  if (how === 'roots') return String((await ctx.roots()).length);
  if (how === 'form') return (await ctx.elicit(City, { message: 'Where?' })).action;
  if (how === 'confirm') return String(await ctx.confirm('Sure?'));
  if (how === 'url') return (await ctx.elicitUrl({ message: 'Pay', url: 'https://example.com/pay' })).action;
  return undefined;
}

/** Members that fail in all possible ways. */
class Failing {
  @Tool()
  async fail({ city: how }: City, ctx: Context) {
    const answer = await question(how, ctx);
    if (answer !== undefined) return answer;
    if (how === 'sign in') return await ctx.requireUrl({ message: 'Sign in', url: 'https://example.com/in' });
    if (how === 'ping') return await ctx.ping();
    if (how === 'internal') throw new McpError('internal-error', 'The database is down.');
    throw new McpError(Number(how), 'A number of the author.');
  }

  @Resource('docs://{city}')
  async docs({ city }: City, ctx: Context): Promise<string> {
    const answer = await question(city, ctx);
    if (answer !== undefined) return answer;
    if (city === 'broken') throw new Error('broken');
    if (city === 'none') throw new McpError('unknown-resource', 'Nothing there.');
    throw new McpError(Number(city), 'A number of the author.');
  }

  @Prompt()
  async pack({ city }: City, ctx: Context) {
    return (await question(city, ctx)) ?? city;
  }

  @Completion({ for: 'pack', argument: 'city' })
  cities() {
    return [];
  }
}

/** A server with these members and an extension. */
export const failing = () =>
  serverOf({ providers: [Failing], extensions: [{ id: 'com.example/x', methods: { 'x/y': () => ({}) } }] });
/** Calls the tool `fail`. */
export const fails = (city: string, meta?: JsonObject) =>
  asked(1, 'tools/call', { name: 'fail', arguments: { city } }, meta);
/** Reads a resource. */
export const reads = (uri: string) => asked(1, 'resources/read', { uri });

type Provocation = readonly [code: number, message: object | string, headers?: Record<string, string>];

/** All kinds of invalid requests with their error codes. */
const PROVOCATIONS: readonly Provocation[] = [
  [-32700, '{'],
  [-32600, '[]'],
  [-32600, { ...asked(1, 'tools/list'), jsonrpc: '1.0' }],
  [-32600, { ...asked(1, 'tools/list'), id: null }],
  [-32601, asked(1, 'tools/fly')],
  [-32601, asked(1, 'ping')],
  [-32602, { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
  [-32602, { ...asked(1, 'tools/list'), params: [] }],
  [-32602, asked(1, 'tools/list', { cursor: 'nonsense' })],
  [-32602, called(1, 'nothing')],
  [-32602, asked(1, 'tools/call', { name: 'fail', arguments: [] as never })],
  [-32602, asked(1, 'prompts/get', { name: 'nothing' })],
  [-32602, asked(1, 'prompts/get', { name: 'pack' })],
  [-32602, asked(1, 'completion/complete', { ref: { type: 'ref/prompt', name: 'nothing' } })],
  [-32602, asked(1, 'subscriptions/listen')],
  [-32602, asked(1, 'tools/list', {}, { progressToken: {} })],
  [-32602, asked(1, 'tools/list', {}, { [`${PREFIX}logLevel`]: 'loud' })],
  [-32602, asked(1, 'tools/call', { name: 'fail', arguments: { city: 'sample' }, requestState: 'forged' })],
  [-32602, reads('docs:missing')],
  [-32602, reads('docs://none')],
  [-32602, reads('docs://-32002')],
  [-32603, reads('docs://broken')],
  [-32603, reads('docs://-32042')],
  [-32603, reads('docs://-32001')],
  [-32603, reads('docs://-32020')],
  [-32603, reads('docs://-32021')],
  [-32603, reads('docs://-32099')],
  [-32602, fails('-32002', declares({ sampling: {} }))],
  [-32603, fails('internal')],
  [-32020, asked(1, 'tools/list'), { 'mcp-method': 'tools/call' }],
  [-32020, called(1, 'fail'), { 'mcp-name': 'other' }],
  [-32020, asked(1, 'tools/list'), { 'mcp-protocol-version': '2025-11-25' }],
  [-32021, fails('sample')],
  [-32021, fails('roots')],
  [-32021, fails('form')],
  [-32021, fails('url', declares({ elicitation: { form: {} } }))],
  [-32021, fails('sign in')],
  [-32021, asked(1, 'x/y')],
  [-32022, asked(1, 'tools/list', {}, { [VERSION]: 'v999.0.0' }), { 'mcp-protocol-version': 'v999.0.0' }],
];

/** Sends all invalid requests, and returns the errors. */
export async function provoked(): Promise<{ code: number; error: Message['error'] }[]> {
  const server = failing();
  const all = [];
  for (const [code, message, headers] of PROVOCATIONS) {
    const [, { error }] = await answerTo(server, message, headers);
    all.push({ code, error });
  }
  return all;
}
