// Compiled by `npm run typecheck`, never run: each line marked as an error must be an error.
import { type Context, Tool } from '@decorum/core';
import { IsString } from 'class-validator';

type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assertType = <T extends true>(proof?: T) => proof;

class Search {
  @IsString() text!: string;
}

class Sum {
  @IsString() sum!: string;
}

interface Plan {
  readonly ids: string[];
  readonly at: Date;
}

/** A plan, after a JSON round trip. */
interface Kept {
  readonly ids: string[];
  readonly at: string;
}

class Plans {
  plan(_query: Search): Plan {
    return { ids: [], at: new Date() };
  }

  async later() {
    return { count: 1 };
  }
}

export class Previews extends Plans {
  @Tool({ preview: 'plan' }) inherited(_query: Search, ctx: Context<Kept>) {
    assertType<Equals<typeof ctx.plan, Kept>>();
    return ctx.plan.ids.length;
  }

  @Tool({ preview: { by: 'later', ask: true } }) promised(_query: Search, ctx: Context<{ count: number }>) {
    return ctx.plan.count;
  }

  @Tool({ input: Search, output: Sum, preview: 'plan' }) both(_query: Search, ctx: Context<Kept>) {
    return { sum: ctx.plan.at };
  }

  @Tool({ preview: 'plan' }) untyped(_query: Search, ctx: Context) {
    assertType<Equals<typeof ctx.plan, unknown>>();
  }

  @Tool({ preview: 'plan' }) part(_query: Search, ctx: Context<{ ids: readonly string[] }>) {
    return ctx.plan.ids;
  }

  @Tool({ preview: 'plan' as string }) computed(_query: Search) {}

  // @ts-expect-error -- the class has no such method
  @Tool({ preview: 'plam' }) missing(_query: Search) {}

  // @ts-expect-error -- nor with other options
  @Tool({ input: Search, preview: { by: 'plam' } }) missingToo(_query: Search) {}

  // @ts-expect-error -- a date is a string after the JSON round trip
  @Tool({ preview: 'plan' }) before(_query: Search, _ctx: Context<Plan>) {}

  // @ts-expect-error -- this is the plan of another method
  @Tool({ input: Search, preview: 'later' }) other(_query: Search, _ctx: Context<Kept>) {}

  // @ts-expect-error -- a field is no method
  @Tool({ preview: 'field' }) notMethod(_query: Search) {}

  // @ts-expect-error -- the parameter is a different DTO than `input`
  @Tool({ input: Search, preview: 'plan' }) otherDto(_query: { text: number }) {}

  field = 1;
}
