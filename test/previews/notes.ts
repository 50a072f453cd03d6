import { type CallToolResult, type Context, Tool } from '@decorum/core';
import { IsString } from 'class-validator';

export class Search {
  @IsString() text!: string;
}

/** Notes that are deleted by a plan. */
export class Notes {
  readonly done: unknown[] = [];
  private made = 0;

  plan() {
    return { plan: (this.made += 1) };
  }

  @Tool({ description: 'Deletes notes', preview: 'plan' }) prune(_query: Search, ctx: Context) {
    this.done.push(ctx.plan);
    return 'done';
  }
}

/** The ticket of a result. */
export const ticketOf = ({ _meta: meta }: object & { readonly _meta?: unknown }) =>
  (meta as Record<string, string>)['dev.decorum/ticket'] as string;

/** The first text of a result. */
export const textOf = ({ content }: CallToolResult) => (content[0] as { text: string }).text;
