import { ALL_TOOLS } from '@decorum/client/internal';
import type { JsonObject, Principal } from '@decorum/core';
import { inspectRaw, isMountable, isObject, judgedCall, nearest, newestOf, toolNamed } from '@decorum/core/internal';

import type { Connection } from '../connection.js';
import { connectionTo } from '../connect.js';
import type { ConnectTarget } from '../target.js';
import type { ModelTool } from './model.js';

/** A server, and who its caller is. */
export interface EvaluatedServer {
  /** A server in this process, the URL of an endpoint, or a program. */
  readonly server: ConnectTarget;
  /** The caller. Only for a server in this process. */
  readonly principal?: Principal;
  /** Headers to send with each request to a URL, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The revision to list the tools in. Defaults to the newest for a server in this process, else to that of `connect`. */
  readonly revision?: string;
}

/** A call as the server would take it. */
export interface TakenCall {
  /** The name of the tool, also for an alias and for a call through `call_tool`. */
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Why the server would refuse it. */
  readonly problems: readonly string[];
}

/** The tools with which a server finds and calls its others. */
interface Finders {
  readonly search: string;
  readonly call: string;
}

/** What a server tells a client before the first call. */
interface Introduction {
  readonly shown: readonly ModelTool[];
  readonly instructions: string | undefined;
  readonly all: ReadonlyMap<string, ModelTool>;
  readonly finders: Finders | undefined;
}

/** The tools of a server, as its caller may see them. */
export class Catalog {
  /** The tools that a model sees. */
  readonly shown: readonly ModelTool[];
  readonly instructions: string | undefined;
  private readonly all: ReadonlyMap<string, ModelTool>;
  private readonly finders: Finders | undefined;

  private constructor(
    private readonly connection: Connection,
    { shown, instructions, all, finders }: Introduction,
  ) {
    this.shown = shown;
    this.instructions = instructions;
    this.all = all;
    this.finders = finders;
  }

  /** Connects to a server, and lists its tools. */
  static async open({ server, ...options }: EvaluatedServer): Promise<Catalog> {
    const newest = isMountable(server) ? { revision: newestOf('stateless').id } : {};
    const connection = await connectionTo(server, { ...newest, ...options });
    try {
      return new Catalog(connection, await introduced(connection));
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** Whether a tool finds others. */
  isSearch(tool: string): boolean {
    return tool === this.finders?.search;
  }

  /** Whether the model can choose a tool, perhaps after a search. */
  has(name: string): boolean {
    return this.all.has(name);
  }

  /** Whether a server in this process has a tool of this name, whoever may see it. Others have what they list. */
  exists(name: string): boolean {
    const { server } = this.connection.identity;
    return this.has(name) || (isMountable(server) && toolNamed(server, name) === name);
  }

  /** The name that was probably meant. */
  nearest(name: string): string | undefined {
    return nearest(name, [...this.all.keys()]);
  }

  /** The description of a tool, on one line. */
  describe(name: string): string {
    const tool = this.entry(name);
    if (tool === undefined) return '(no such tool)';
    return tool.description?.replaceAll(/\s+/g, ' ') ?? '(no description)';
  }

  /** Searches for tools. Nothing else is ever called. */
  async search(args: JsonObject, signal: AbortSignal): Promise<string> {
    const params = { name: this.finders?.search, arguments: args };
    const { content } = await this.connection.request('tools/call', params, { signal });
    const blocks = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
    return blocks.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
  }

  /** Says how the server would take a call, without making it. */
  async take(name: string, args: JsonObject): Promise<TakenCall> {
    const target = args['name'];
    if (name === this.finders?.call && typeof target === 'string') {
      const { arguments: inner = {}, ...rest } = args;
      if (Object.keys(rest).length === 1 && isObject(inner)) return await this.take(target, inner);
    }
    const { server } = this.connection.identity;
    const judged = isMountable(server) ? await judgedCall(server, name, args) : undefined;
    const tool = judged?.tool ?? name;
    const entry = this.entry(tool);
    if (entry === undefined) return { tool, arguments: args, problems: [`there is no tool ${tool}`] };
    const problems = judged?.problems ?? explain(entry.inputSchema, args);
    return {
      tool,
      arguments: args,
      problems: problems.map(({ path, expected }) => `${path === '' ? 'the arguments' : path}: ${expected}`),
    };
  }

  private entry(name: string): ModelTool | undefined {
    return this.all.get(name) ?? this.shown.find((each) => each.name === name);
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}

async function introduced(connection: Connection): Promise<Introduction> {
  const { instructions } = connection.initialized ?? (await connection.request('server/discover', {}));
  const listed = (await connection.list('tools/list', 'tools')).filter(isForModel);
  const whole = (await connection.list('tools/list', 'tools', { meta: ALL_TOOLS })).filter(isForModel);
  const all = new Map(whole.map((tool) => [String(tool['name']), forModel(tool)]));
  return {
    shown: listed.map(forModel),
    instructions: typeof instructions === 'string' ? instructions : undefined,
    all,
    finders: findersOf(listed.filter(({ name }) => !all.has(String(name)))),
  };
}

const forModel = ({ name, description, inputSchema }: JsonObject): ModelTool => ({
  name: String(name),
  ...(typeof description === 'string' && { description }),
  inputSchema: inputSchema as JsonObject,
});

/** Whether models may see a tool. Hosts keep those for themselves that are only for the page of another tool. */
function isForModel({ _meta: meta }: JsonObject): boolean {
  const ui = isObject(meta) ? meta['ui'] : undefined;
  const visibility = isObject(ui) ? ui['visibility'] : undefined;
  return !Array.isArray(visibility) || visibility.includes('model');
}

/** The two tools of `search()`, among those that the list of all tools lacks. */
function findersOf(tools: readonly JsonObject[]): Finders | undefined {
  const taking = (...names: readonly string[]) =>
    tools.find(({ inputSchema }) => {
      const { properties } = inputSchema as JsonObject;
      return isObject(properties) && names.every((name) => name in properties);
    })?.['name'];
  const [search, call] = [taking('query'), taking('name', 'arguments')];
  return typeof search === 'string' && typeof call === 'string' ? { search, call } : undefined;
}

/** What is wrong with arguments, as far as the schema says. */
function explain(schema: JsonObject, args: JsonObject): readonly { path: string; expected: string }[] {
  let inspection;
  try {
    inspection = inspectRaw(schema, 'inputSchema');
  } catch {
    // a schema that can't be compiled says nothing
    return [];
  }
  return inspection.fits(args) ? [] : inspection.explain(args);
}
