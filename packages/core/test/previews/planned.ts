import type { CallToolResult, Context, McpServerOptions, PreviewOptions, ToolOptions } from '@decorum/core';
import { Tool } from '@decorum/core';
import { connect, type ConnectOptions } from '@decorum/testing';
import { IsString } from 'class-validator';

import { reporting } from '../kernel/serving.js';

export class Search {
  @IsString() text!: string;
}

export interface Plan {
  readonly ids: readonly number[];
}

export const TICKET = 'dev.decorum/ticket';

/** What a tool with a preview does, and what it has done. */
export class Deeds {
  /** Plans that were made, by the text that they are for. */
  readonly made: string[] = [];
  /** What runs got as `ctx.plan`. */
  readonly done: unknown[] = [];
  plan: (query: Search, ctx: Context) => unknown = () => ({ ids: [this.made.length] });
  run: (query: Search, ctx: Context) => unknown = () => 'done';
}

/** A server whose tool `prune` shows the plans of `deeds`. */
export function planning(
  preview: string | PreviewOptions = 'plan',
  { tool, ...options }: Partial<McpServerOptions> & { readonly tool?: ToolOptions } = {},
) {
  const deeds = new Deeds();
  class Files {
    @Tool({ input: Search, ...tool, preview } as object) prune(query: Search, ctx: Context) {
      deeds.done.push(ctx.plan);
      return deeds.run(query, ctx);
    }

    plan(query: Search, ctx: Context) {
      deeds.made.push(query.text);
      return deeds.plan(query, ctx);
    }
  }
  return { ...reporting({ providers: [Files], ...options }), deeds };
}

/** The same with a client. */
export async function pruning(
  made: ReturnType<typeof planning> = planning(),
  client: ConnectOptions = {},
  name = 'prune',
) {
  const connected = await connect(made.server, client);
  const call = async (args: object = {}, meta?: object) =>
    (await connected.request('tools/call', {
      name,
      arguments: { text: 'old', ...args },
      ...(meta && { _meta: meta }),
    })) as unknown as CallToolResult;
  return { ...made, client: connected, call };
}

/** The ticket of a result. */
export const ticketOf = ({ _meta: meta }: CallToolResult) => (meta as Record<string, string>)[TICKET] as string;

/** The texts of a result, as clients join them. */
export const allText = ({ content }: CallToolResult) =>
  content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
