// Questions of methods that interceptors are around.
import { type Context, needInput, NoInput, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';

import { closing, serve, textIn } from './fixture.js';

@Injectable()
class Passing implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    return next.handle();
  }
}

@Injectable()
class Work {
  @UseInterceptors(Passing)
  @Tool()
  where(_input: NoInput, ctx: Context) {
    if (!ctx.answers) return needInput({ roots: { method: 'roots/list' } }, 'asked');
    return `${JSON.stringify(ctx.answers)} ${String(ctx.state)}`;
  }
}

describe('A method with an interceptor', () => {
  it.each(['stateful', 'stateless'] as const)('gets the answers that needInput asks for, %s', async (era) => {
    const { server } = await serve([Work]);
    const client = closing(await connect(server, { era, onRoots: () => [{ uri: 'file:///work' }] }));
    expect(textIn(await client.callTool('where'))).toBe('{"roots":{"roots":[{"uri":"file:///work"}]}} asked');
  });
});
