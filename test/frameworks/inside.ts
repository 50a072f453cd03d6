// What the applications of these tests have inside. Nest's run in processes of their own, so jest is not loaded here.
import { Context, NoInput, Tool } from '@decorum/core';
import compression from 'compression';
import type { RequestHandler } from 'express';

/** Bytes that a body may have in the applications of these tests. */
export const BODY_LIMIT = 1_500_000;

/** A tool that goes on only when the client has seen its progress. */
export class Steps {
  private go: (() => void) | undefined;

  @Tool({ description: 'Reports progress, and waits until `seen` is called' })
  async walk(_input: NoInput, ctx: Context) {
    const seen = new Promise<void>((resolve) => {
      this.go = resolve;
    });
    ctx.progress(1);
    await seen;
    return 'walked';
  }

  @Tool({ description: 'Lets `walk` go on' })
  seen() {
    this.go?.();
    return 'seen';
  }
}

/** Compresses each answer, however small. Event streams say that they must not be transformed, and are left alone. */
export const compress: RequestHandler = compression({ threshold: 0, filter: () => true });

/** After `compress`: removes what keeps it from compressing event streams. */
export const permitTransforms: RequestHandler = (_request, response, next) => {
  const writeHead = response.writeHead.bind(response) as (status: number, headers: object) => typeof response;
  response.writeHead = (status: number, headers?: unknown) =>
    writeHead(status, { ...(headers as object), 'cache-control': 'no-cache' });
  next();
};
