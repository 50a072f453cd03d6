// Parts of the applications in these tests. Those with Nest run in their own processes, so jest isn't loaded here.
import { Context, NoInput, Tool } from '@decorum/core';
import compression from 'compression';
import type { RequestHandler } from 'express';

/** Maximum bytes of a body in the applications of these tests. */
export const BODY_LIMIT = 1_500_000;

/** A tool that continues only when the client has seen its progress. */
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

/** Compresses each response, however small. Event streams forbid transforms, so they aren't compressed. */
export const compress: RequestHandler = compression({ threshold: 0, filter: () => true });

/** Use it after `compress`: removes the header that prevents event streams from being compressed. */
export const permitTransforms: RequestHandler = (_request, response, next) => {
  const writeHead = response.writeHead.bind(response) as (status: number, headers: object) => typeof response;
  response.writeHead = (status: number, headers?: unknown) =>
    writeHead(status, { ...(headers as object), 'cache-control': 'no-cache' });
  next();
};
