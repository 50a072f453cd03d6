// Guards protect previews as they protect tools.
import { type Context, Tool } from '@decorum/core';
import { McpExecutionContext } from '@decorum/nestjs';
import { describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  Scope,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { IsString } from 'class-validator';
import { map } from 'rxjs';

import { serve, textIn } from './fixture.js';

class Search {
  @IsString() text!: string;
}

const ticketOf = ({ _meta: meta }: { readonly _meta?: unknown }) =>
  (meta as Record<string, string>)['dev.decorum/ticket'];

let isOpen = true;
const seen: unknown[] = [];
const made: unknown[] = [];

@Injectable()
class KeyGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const { member, arguments: args } = McpExecutionContext.from(context);
    seen.push([member.key, args, context.getHandler().name]);
    return isOpen;
  }
}

@Injectable()
class Upper implements PipeTransform {
  transform(value: unknown) {
    const { text } = value as Search;
    return typeof text === 'string' ? { text: text.toUpperCase() } : value;
  }
}

@Injectable()
class Marks implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next
      .handle()
      .pipe(map((value: unknown) => (typeof value === 'object' ? { ...value, marked: true } : value)));
  }
}

class Files {
  protected readonly count = made;

  @UseGuards(KeyGuard)
  @UsePipes(Upper)
  @UseInterceptors(Marks)
  @Tool({ preview: 'plan' })
  prune({ text }: Search, ctx: Context) {
    return `${text} ${JSON.stringify(ctx.plan)}`;
  }

  plan({ text }: Search, ctx: Context) {
    this.count.push([text, ctx.plan]);
    return { text };
  }
}

@Injectable()
class OfAll extends Files {}

@Injectable({ scope: Scope.REQUEST })
class OfRequests extends Files {}

@Injectable()
class Decorated {
  @Tool({ preview: 'plan' }) prune() {}

  @UseGuards(KeyGuard) plan() {
    return 1;
  }
}

@Injectable()
class Lost {
  @Tool({ preview: 'plam' } as object) prune() {}
}

describe.each([OfAll, OfRequests])('A preview of %p', (provider) => {
  it('runs inside the guards, pipes and interceptors of the tool', async () => {
    isOpen = true;
    seen.length = made.length = 0;
    const { client } = await serve([provider]);
    const shown = await client.callTool('prune', { text: 'old' });
    expect(made).toEqual([['OLD', undefined]]);
    expect(seen).toEqual([['prune', { text: 'old' }, 'prune']]);
    const ticket = ticketOf(shown);
    expect(textIn(await client.callTool('prune', { text: 'old', ticket }))).toBe('OLD {"text":"OLD","marked":true}');
    expect(made).toHaveLength(1);
    expect(seen[1]).toEqual(['prune', { text: 'old' }, 'prune']);
  });

  it('is denied by a guard, and so is a ticket, which stays good', async () => {
    isOpen = true;
    made.length = 0;
    const { client } = await serve([provider]);
    const shown = await client.callTool('prune', { text: 'old' });
    const ticket = ticketOf(shown);
    isOpen = false;
    expect(await client.callTool('prune', { text: 'old' })).toMatchObject({ isError: true });
    expect(await client.callTool('prune', { text: 'old', ticket })).toMatchObject({ isError: true });
    expect(made).toHaveLength(1);
    isOpen = true;
    expect(textIn(await client.callTool('prune', { text: 'old', ticket }))).toContain('OLD');
  });

  it('checks the arguments after the guards', async () => {
    const { client } = await serve([provider]);
    isOpen = false;
    expect(textIn(await client.callTool('prune', { text: 5 }))).not.toContain('must be a string');
    isOpen = true;
    expect(textIn(await client.callTool('prune', { text: 5 }))).toContain('must be a string');
  });
});

describe('A startup with previews', () => {
  it('fails if the method that makes plans has guards of its own, which would not run', async () => {
    await expect(serve([Decorated])).rejects.toThrow(
      'Nest would not run @UseGuards of Decorated.plan. Decorate Decorated.prune instead: its guards also run before `preview`',
    );
  });

  it('fails if there is no such method', async () => {
    await expect(serve([Lost])).rejects.toThrow('Lost.prune: `preview` names "plam", which is no method of Lost');
  });
});
