// Who gets results that `memoize` keeps.
import { Completion, type Context, NoInput, Prompt, Resource, Tool } from '@decorum/core';
import { McpExecutionContext, requestOf } from '@decorum/nestjs';
import type { TestClient } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { IsString } from 'class-validator';

import { Denied, serve, textIn } from './fixture.js';

let isOpen = true;
let runs = 0;
const seen: unknown[] = [];

/** Knows callers by something that no principal tells. */
@Injectable()
class KeyGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    seen.push(McpExecutionContext.from(context).arguments);
    return isOpen;
  }
}

class City {
  @IsString() name!: string;
}

@Injectable()
@UseGuards(KeyGuard)
class Weather {
  @Tool({ memoize: '1h', annotations: { readOnlyHint: true } }) tool({ name }: City) {
    return `${name} ${++runs}`;
  }

  @Tool({ idempotent: '1h' }) pay({ name }: City) {
    return `${name} ${++runs}`;
  }

  @Prompt({ memoize: '1h' }) prompt({ name }: City) {
    return `${name} ${++runs}`;
  }

  @Resource('weather://{name}', { memoize: '1h' }) template({ name }: City) {
    return `${name} ${++runs}`;
  }

  @Completion({ for: 'prompt', argument: 'name', memoize: '1h' }) names(typed: string) {
    return [`${typed} ${++runs}`];
  }
}

const CALLS: Readonly<Record<string, (client: TestClient) => Promise<unknown>>> = {
  tool: async (client) => (await client.callTool('tool', { name: 'Oslo' })).content,
  prompt: async (client) => (await client.getPrompt('prompt', { name: 'Oslo' })).messages,
  template: async (client) => (await client.readResource('weather://Oslo')).contents,
  completion: async (client) => await client.complete({ prompt: 'prompt' }, { name: 'name', value: 'Oslo' }),
};

let isHanging = false;

/** May wait for a service that doesn't answer. */
@Injectable()
class SlowGuard implements CanActivate {
  canActivate() {
    return isHanging ? new Promise<never>(() => {}) : true;
  }
}

@Injectable()
@UseGuards(SlowGuard)
class Slow {
  @Tool({ memoize: { ttl: '1h', vary: () => '' }, timeoutMs: 5, annotations: { readOnlyHint: true } }) tool() {
    return 'kept';
  }
}

describe('A kept result', () => {
  it('is not waited for longer than the time limit if a guard hangs', async () => {
    const { client } = await serve([Slow]);
    isHanging = false;
    expect(textIn(await client.callTool('tool'))).toBe('kept');
    isHanging = true;
    expect(textIn(await client.callTool('tool'))).toContain('did not finish within 5 ms');
  });

  it.each(Object.keys(CALLS))('of a %s is for those only whom the guards let pass', async (kind) => {
    const { client } = await serve([Weather], { principal: 'request.user' });
    const call = CALLS[kind]!;
    isOpen = true;
    runs = 0;
    seen.length = 0;
    const first = await call(client);
    expect(JSON.stringify(first)).toContain('Oslo 1');
    expect(await call(client)).toEqual(first);
    isOpen = false;
    const denied = await call(client).then(
      (answer) => JSON.stringify(answer),
      ({ message }: Error) => message,
    );
    expect(denied).toContain('Forbidden');
    isOpen = true;
    expect(await call(client)).toEqual(first);
    // guards of a kept result see the arguments, as those of a call do
    expect(new Set(seen.map((args) => JSON.stringify(args)))).toEqual(new Set(['{"name":"Oslo"}']));
  });
});

describe('A recorded outcome', () => {
  it('is for those only whom the guards let pass, and nobody makes the tool run again', async () => {
    const { client } = await serve([Weather], { principal: 'request.user' });
    const pay = async () => textIn(await client.callTool('pay', { name: 'Oslo' }, { idempotencyKey: 'order-7' }));
    isOpen = false;
    runs = 0;
    expect(await pay()).toContain('Forbidden');
    isOpen = true;
    expect(await pay()).toBe('Oslo 1');
    isOpen = false;
    expect(await pay()).toBe('You may not have the outcome of the call with this idempotency key.');
    isOpen = true;
    expect(await pay()).toBe('Oslo 1');
    expect(runs).toBe(1);
  });
});

const READS = { annotations: { readOnlyHint: true } } as const;

@Injectable()
class Kept {
  @Tool({ ...READS, memoize: '1h' }) order(_input: NoInput, ctx: Context) {
    return String(requestOf(ctx));
  }
}

@Injectable()
class Guarded {
  @UseGuards(Denied)
  @Tool({ ...READS, memoize: { ttl: '1h' } })
  order() {
    return 'ordered';
  }
}

@UseGuards(Denied)
@Injectable()
class Varied {
  @Tool({ ...READS, memoize: { ttl: '1h', vary: () => '' } }) order() {
    return 'ordered';
  }

  @Tool({ ...READS, memoize: false }) run() {
    return 'ran';
  }
}

describe('`memoize` of a server that does not know its callers', () => {
  it('is a startup error without `vary` beside a guard, which may sign users in', async () => {
    await expect(serve([Guarded, Denied])).rejects.toThrow(/Guarded\.order: `memoize` .*Add `vary`/);
  });

  it('is a startup error without `vary` beside a guard of the application', async () => {
    const guard = { provide: APP_GUARD, useClass: Denied };
    await expect(serve([Kept, guard])).rejects.toThrow(/Kept\.order: `memoize` .*Add `vary`/);
  });

  it('needs no `vary` without guards', async () => {
    const { client } = await serve([Kept]);
    expect(textIn(await client.callTool('order'))).toBe('undefined');
  });

  it.each([
    ['with `vary`', [Varied, Denied], {}],
    ['if the endpoint knows its callers', [Guarded, Denied], { principal: 'request.user' }],
    ['without HTTP', [Guarded, Denied], { http: false }],
  ] as const)('starts beside guards %s', async (_when, providers, options) => {
    const { client } = await serve([...providers], options);
    expect(textIn(await client.callTool('order'))).toBe('Forbidden resource');
  });
});
