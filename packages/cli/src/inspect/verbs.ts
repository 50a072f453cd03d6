import type { Client, RequestOptions } from '@decorum/client';
import { type JsonObject, McpError } from '@decorum/core';
import { isObject } from '@decorum/core/internal';
import { CommandFailure, EXIT } from 'create-decorum';

import { type Answer, promptAnswer, resourceAnswer, toolAnswer } from './answer.js';
import { readArgumentFile, readArguments, readPairs } from './arguments.js';
import { listAnswer, overview } from './lists.js';
import type { Verb } from './request.js';

/** What a verb works with. */
export interface VerbInput {
  readonly client: Client;
  readonly operands: readonly string[];
  /** The file of `--args`. */
  readonly args: string | undefined;
  readonly request: RequestOptions;
}

const usage = (message: string) => new CommandFailure(message, EXIT.usage);

function operand(given: string | undefined, what: string): string {
  if (given !== undefined) return given;
  throw usage(`Name ${what}.`);
}

function noMore(operands: readonly string[]): void {
  if (operands.length > 0) throw usage(`There is too much: ${operands.join(' ')}.`);
}

/** Asks servers that list only some of their tools, and have a search for the rest, for all of them. */
const withAllTools = (request: RequestOptions): RequestOptions => ({
  ...request,
  meta: { ...request.meta, 'dev.decorum/tools': 'all' },
});

/**
 * Calls what the user named.
 * @param run takes the entry of a list. Undefined for a name that is on no list: it may be an alias, or unlisted
 * @throws {CommandFailure} with `EXIT.usage` if the server doesn't know the name either
 */
async function callNamed(
  entries: AsyncIterable<object>,
  name: string,
  run: (entry: JsonObject | undefined) => Promise<Answer>,
): Promise<Answer> {
  const listed: unknown[] = [];
  for await (const entry of entries) {
    const { name: found } = entry as { readonly name: unknown };
    if (found === name) return await run(entry as JsonObject);
    listed.push(found);
  }
  try {
    return await run(undefined);
  } catch (error) {
    if (!(error instanceof McpError && error.code === INVALID_PARAMS)) throw error;
    const end = error.message.endsWith('.') ? '' : '.';
    throw usage(`${error.message}${end} The server lists: ${listed.map(String).join(', ') || 'nothing'}.`);
  }
}

/** Error code of JSON-RPC 2.0 that servers answer to unknown names. */
const INVALID_PARAMS = -32_602;

async function call({ client, operands, args, request }: VerbInput): Promise<Answer> {
  const [first, ...rest] = operands;
  const name = operand(first, 'the tool to call');
  const given = readArgumentFile(args);
  return await callNamed(client.tools(withAllTools(request)), name, async ({ inputSchema } = {}) => {
    const values = readArguments(rest, isObject(inputSchema) ? inputSchema : {}, given);
    return toolAnswer(await client.callTool(name, values, request));
  });
}

async function read({ client, operands: [uri, ...more], request }: VerbInput): Promise<Answer> {
  noMore(more);
  return resourceAnswer(await client.readResource(operand(uri, 'the URI of the resource'), request));
}

async function get({ client, operands, args, request }: VerbInput): Promise<Answer> {
  const [first, ...rest] = operands;
  const name = operand(first, 'the prompt');
  const given = readArgumentFile(args);
  return await callNamed(client.prompts(request), name, async (entry) => {
    const { arguments: known } = entry ?? {};
    const schema = schemaOf(Array.isArray(known) ? known.filter(isObject) : []);
    return promptAnswer(await client.getPrompt(name, readArguments(rest, schema, given), request));
  });
}

/** The arguments of a prompt as those of a tool. */
function schemaOf(known: readonly JsonObject[]): JsonObject {
  const names = known.map(({ name }) => String(name));
  const required = names.filter((_name, at) => known[at]?.['required'] === true);
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])), required };
}

async function complete({ client, operands, request }: VerbInput): Promise<Answer> {
  const [first, ...rest] = operands;
  const name = operand(first, 'the prompt or the resource template');
  const pairs = Object.entries(readPairs(rest));
  const [argument, value] = pairs.pop() ?? [];
  if (argument === undefined || value === undefined) throw usage('Name what to complete: argument=prefix.');
  const reference = /\{|:\/\//.test(name) ? { resource: name } : { prompt: name };
  const context = pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
  const found = await client.complete(reference, { name: argument, value }, { ...request, context });
  return { json: found, text: Array.isArray(found.values) ? found.values.join('\n') : '' };
}

async function list({ client, operands: [name, ...more] }: VerbInput): Promise<Answer> {
  noMore(more);
  return await listAnswer(client, name);
}

/** The verbs that end with an answer. */
const VERBS: { readonly [verb in Verb]?: (input: VerbInput) => Promise<Answer> } = { list, call, read, get, complete };

/**
 * Does what the verb says.
 * @param verb undefined describes the server
 * @throws {CommandFailure | McpError | ConnectionError}
 */
export async function answerOf(verb: Verb | undefined, input: VerbInput): Promise<Answer> {
  const run = verb === undefined ? async () => await overview(input.client) : VERBS[verb];
  if (run === undefined) throw usage(`${verb} gives no answer.`);
  return await run(input);
}
