// A server whose members fail in every way that a recorder can see.
import {
  Completion,
  Context,
  type McpServerOptions,
  McpError,
  NoInput,
  Prompt,
  Resource,
  Tool,
  ToolError,
} from '@decorum/core';
import { IsEmail, IsIn, IsInt, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';

class Order {
  @IsInt() @Min(1) @Max(9) count!: number;
  @IsString() @MaxLength(8) sku!: string;
}

class Login {
  @IsEmail() login!: string;
  @IsUUID() apiKey!: string;
  @IsString() password!: string;
}

class Guest {
  @IsString() @IsIn(['Ada', 'Bob']) name!: string;
}

class Sum {
  @IsInt() total!: number;
}

class Note {
  @IsString() @MaxLength(3) id!: string;
}

const failsWith = (error: unknown): never => {
  throw error;
};

/** Members that fail. */
export class Faults {
  @Tool({ description: 'Orders' }) order({ count, sku }: Order) {
    return `${count} ${sku}`;
  }
  @Tool({ description: 'Signs in' }) login({ login, password }: Login) {
    throw new ToolError(`Wrong password ${password} for ${login}`);
  }
  @Tool({ description: 'Means it' }) sold_out() {
    throw new ToolError('Sold out');
  }
  @Tool({ description: 'Has a bug' }) bug(_input: NoInput) {
    return (undefined as unknown as { total: number }).total;
  }
  @Tool({ description: 'Has a bug in what it has planned', preview: 'plan' }) planned_bug(
    _input: NoInput,
    ctx: Context<string[]>,
  ) {
    throw new RangeError(`Out of range: ${ctx.plan.join()}`);
  }
  plan() {
    return ['a', 'b'];
  }
  @Tool({ description: 'Has a bug, later' }) async late_bug(_input: NoInput) {
    await Promise.resolve();
    throw new RangeError('Out of range');
  }
  @Tool({ description: 'Has a bug, after it has remembered something' }) async forgetful(
    _input: NoInput,
    ctx: Context,
  ) {
    await ctx.memory<boolean>('seen').set(true);
    throw new RangeError('Out of range');
  }
  @Tool({ description: 'Throws text' }) text(_input: NoInput) {
    return failsWith('a text');
  }
  @Tool({ description: 'Is unknown to the protocol' }) protocol(_input: NoInput) {
    throw new McpError('internal-error', 'Not today');
  }
  @Tool({ description: 'Has an own code' }) own_code(_input: NoInput) {
    throw new McpError(-31_000, 'Own code', { why: 'closed' });
  }
  @Tool({ description: 'Rejects its arguments' }) rejected(_input: NoInput) {
    throw new McpError('invalid-params', 'Not these');
  }
  @Tool({ description: 'Limits' }) busy(_input: NoInput) {
    throw new McpError('too-many-requests', 'Later');
  }
  @Tool({ description: 'Times out', timeoutMs: 20 }) async slow(_input: NoInput) {
    await new Promise(() => {});
  }
  @Tool({ description: 'Waits too long for another service' }) upstream(_input: NoInput) {
    throw new DOMException('The operation timed out', 'TimeoutError');
  }
  @Tool({ description: 'Is denied', access: () => false }) hidden(_input: NoInput) {
    return 'hidden';
  }
  @Tool({ description: 'Is for admins', access: (principal) => principal?.claims?.['role'] === 'admin' })
  admins(_input: NoInput) {
    throw new ToolError('Admins only see this');
  }
  @Tool({ description: 'Is for HTTP', access: (_principal, { kind }) => kind === 'http' }) web(_input: NoInput) {
    throw new ToolError('Only over HTTP');
  }
  @Tool({ description: 'Breaks its output', output: Sum }) sum(_input: NoInput) {
    return { total: 'many' } as unknown as Sum;
  }
  @Tool({ description: 'Asks, and fails if the user declines' }) async confirm(_input: NoInput, ctx: Context) {
    if (!(await ctx.confirm('Sure?'))) throw new ToolError('Not sure');
    throw new TypeError('Sure, but broken');
  }
  @Tool({ description: 'Asks twice around an effect' }) async book(_input: NoInput, ctx: Context) {
    const { content } = (await ctx.elicit(Guest, { message: 'Who?' })) as { content?: Guest };
    const seat = await ctx.once('seat', () => `seat ${process.hrtime.bigint()}`);
    if (!(await ctx.confirm(`${seat} for ${content?.name}?`))) throw new ToolError(`${seat} is free again`);
    throw new RangeError('No seat');
  }
  @Tool({ description: 'Needs a model' }) async model(_input: NoInput, ctx: Context) {
    const { text } = await ctx.sample({ messages: 'Write', maxTokens: 9 });
    throw new ToolError(`The model said ${text}`);
  }
  @Tool({ description: 'Needs folders' }) async folders(_input: NoInput, ctx: Context) {
    const roots = await ctx.roots();
    throw new ToolError(`There are ${roots.length} folders`);
  }
  @Tool({ description: 'Needs a page' }) async page(_input: NoInput, ctx: Context) {
    await ctx.requireUrl({ message: 'Pay', url: 'https://example.com/pay' });
    throw new ToolError('Paid, but gone');
  }
  @Tool({ description: 'Looks at _meta' }) branch(_input: NoInput, ctx: Context) {
    throw new ToolError(`No branch ${String(ctx.meta?.['shop/branch'])}`);
  }
  @Tool({ description: 'Fails in an effect' }) async effect(_input: NoInput, ctx: Context) {
    await ctx.once('pay', () => failsWith(new EvalError('No bank')));
  }
  @Tool({ description: 'Never ends' }) async endless(_input: NoInput, ctx: Context) {
    ctx.progress(1, 2);
    await new Promise(() => {});
  }
  @Resource('faults://broken') broken() {
    return failsWith(new SyntaxError('Broken'));
  }
  @Resource('faults://notes/{id}') note({ id }: Note) {
    if (id === 'bug') throw new TypeError('No note');
    return id === 'b' ? failsWith(new McpError('unavailable', 'The store is down')) : undefined;
  }
  @Prompt({ description: 'Greets' }) greet({ name }: Guest) {
    throw new McpError('internal-error', `${name} has gone`);
  }
  @Prompt({ description: 'Has a bug' }) broken_prompt(_input: NoInput) {
    return failsWith(new TypeError('No words'));
  }
  @Completion({ for: 'greet', argument: 'name' }) names(typed: string): string[] {
    return typed === 'x' ? failsWith(new TypeError('No names')) : [];
  }
}

/** Options of the server. */
export const FAULTS: McpServerOptions = {
  name: 'faults',
  version: '1.0.0',
  providers: [Faults],
  limits: { maxOpenCalls: 4 },
  interceptors: [
    async (call, next) => {
      if (call.ctx.meta?.['shop/closed'] === true) throw new ToolError('Closed by an interceptor');
      return await next();
    },
  ],
};
