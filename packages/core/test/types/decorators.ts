// Compiled by `npm run typecheck`, never run: each line marked as an error must be an error.
import {
  Completion,
  type Context,
  type Jsonified,
  McpError,
  McpServer,
  Prompt,
  Resource,
  text,
  Tool,
  toolResult,
} from '@decorum/core';
import { IsInt, IsNumber, IsString } from 'class-validator';
import { z } from 'zod';

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assertType = <T extends true>(proof?: T) => proof;

class City {
  @IsString() city!: string;
}

class Count {
  @IsInt() count!: number;
}

class Sum {
  @IsNumber() sum!: number;
}

const Zod = z.object({ city: z.string(), days: z.coerce.number<string>() });

export class Inputs {
  @Tool({ input: City }) part(_input: Pick<City, 'city'>) {}

  // @ts-expect-error -- the parameter is a different DTO than `input`
  @Tool({ input: City }) otherDto(_input: Count) {}

  // @ts-expect-error -- a field of the parameter has a different type than in `input`
  @Tool({ input: City }) otherField(_input: { city: number }) {}

  @Tool({ input: Zod }) standard(_input: { city: string; days: number }) {}

  // @ts-expect-error -- `days` is a number after parsing
  @Tool({ input: Zod }) standardBefore(_input: { city: string; days: string }) {}

  @Tool({ input: { type: 'object', properties: { city: { type: 'string' } } } }) raw(_input: { city?: string }) {}

  // @ts-expect-error -- the parameter is a different DTO than `input`
  @Prompt({ input: City }) wrongPrompt(_input: Count) {
    return '';
  }

  // @ts-expect-error -- the parameter is a different DTO than `input`
  @Resource('x://{city}', { input: City }) wrongResource(_input: Count) {
    return '';
  }
}

export class Outputs {
  @Tool({ output: Sum }) async *generator() {
    yield 1;
    return { sum: 1 };
  }

  // @ts-expect-error -- a field of the result has a different type than in `output`
  @Tool({ output: Sum }) wrong() {
    return { sum: 'one' };
  }

  // @ts-expect-error -- a field of the structured content has a different type than in `output`
  @Tool({ output: Sum }) wrongExplicit() {
    return toolResult({ structuredContent: { sum: 'one' } });
  }

  // @ts-expect-error -- the promise resolves to a different type than `output`
  @Tool({ output: Sum }) async wrongPromise() {
    return 'one';
  }

  // @ts-expect-error -- the parameter is a different DTO than `input`
  @Tool({ input: City, output: Sum }) bothWrongInput(_input: Count): Sum {
    return { sum: 1 };
  }

  // @ts-expect-error -- the result has a different type than `output`
  @Tool({ input: City, output: Sum }) bothWrongOutput(_input: City) {
    return 1;
  }
}

// the error is at the wrong option, not at the schema beside it
export class Misspelled {
  @Tool({
    input: City,
    // @ts-expect-error -- there is no such option
    descripton: 'Finds a city',
  })
  tool(_input: City) {}

  @Tool({
    output: Sum,
    // @ts-expect-error -- a number of milliseconds
    timeoutMs: '5s',
  })
  limited(): Sum {
    return { sum: 1 };
  }

  @Prompt({
    input: City,
    // @ts-expect-error -- there is no such option
    descripton: 'Asks for a city',
  })
  prompt(_input: City) {
    return '';
  }

  @Resource('y://{city}', {
    input: City,
    // @ts-expect-error -- there is no such option
    descripton: 'A city',
  })
  resource(_input: City) {
    return '';
  }
}

export class Worded {
  @Tool({ output: Zod, text: ({ city, days }) => city + days }) standard() {
    return { city: 'Oslo', days: '3' };
  }

  @Tool({ output: Sum, text: false }) writtenOut() {
    return { content: [text('one')], structuredContent: { sum: 1 } };
  }

  // @ts-expect-error -- the sum is a number
  @Tool({ output: Sum, text: ({ sum }) => sum }) numberForText(): Sum {
    return { sum: 1 };
  }

  // @ts-expect-error -- a text is a string, a boolean or a function
  @Tool({ output: Sum, text: 5 }) wrongText(): Sum {
    return { sum: 1 };
  }

  // @ts-expect-error -- a field of the structured content has a different type than in `output`
  @Tool({ output: Sum }) wrongWrittenOut() {
    return { content: [text('one')], structuredContent: { sum: 'one' } };
  }
}

export class Completions {
  @Completion({ for: 'prompt', argument: 'city' }) values(_typed: string) {
    return ['Oslo'];
  }

  // @ts-expect-error -- completions are lists of strings
  @Completion({ for: 'prompt', argument: 'city' }) numbers(_typed: string) {
    return [1];
  }
}

export async function questions(ctx: Context) {
  const form = await ctx.elicit(City, { message: '' });
  if (form.action === 'accept') assertType<Equals<typeof form.content, City>>();
  // @ts-expect-error -- only an accepted question has content
  else form.content;
  const parsed = await ctx.elicit(Zod, { message: '' });
  if (parsed.action === 'accept') assertType<Equals<typeof parsed.content.days, number>>();
}

export async function kept(ctx: Context) {
  const hold = await ctx.once('hold', () => ({ until: new Date(), seats: new Set(['1A']), cancel() {} }));
  assertType<Equals<typeof hold, { until: string; seats: string[] }>>();
  const nothing = await ctx.once('mail', async () => {});
  assertType<Equals<typeof nothing, void>>();
  const prices = await ctx.once('prices', () => [new Map([['EUR', 9]])]);
  assertType<Equals<typeof prices, Record<string, number>[]>>();
  // @ts-expect-error -- a date is a string after the JSON round trip
  hold.until.getTime();
  assertType<Equals<Jsonified<{ a?: Date; b: readonly [1, URL] }>, { a?: string; b: readonly [1, string] }>>();
  assertType<Equals<Jsonified<bigint>, string>>();
  assertType<Equals<Jsonified<Promise<string>>, never>>();
  assertType<Equals<Jsonified<unknown>, unknown>>();
}

class NotFound extends Error {
  readonly what = 'note';
}

class Refused extends Error {
  readonly code = 1;
}

export const expecting: McpServer = new McpServer({
  name: 'x',
  version: '1',
  errors: [
    [NotFound, (error) => error.what.toUpperCase()],
    [Refused, (error) => new McpError(error.code, 'refused')],
    [Error, (error) => ('code' in error ? error.message : undefined)],
  ],
});

export class Subclass extends McpServer {
  constructor() {
    super({ name: 'x', version: '1', errors: [[NotFound, (error: NotFound) => error.what]] });
  }
}

export class Messages extends McpServer {
  constructor() {
    super({ name: 'x', version: '1', errors: [[Refused, (error) => error.message]] });
  }
}

// @ts-expect-error -- the error is an instance of the class
new McpServer({ name: 'x', version: '1', errors: [[NotFound, (error) => error.code.toFixed()]] });

// @ts-expect-error -- the mapped error must be a string or an McpError
new McpServer({ name: 'x', version: '1', errors: [[NotFound, () => 5]] });

// @ts-expect-error -- a server needs a version
export const server = new McpServer({ name: 'x' });
