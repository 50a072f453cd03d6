import type { Buffer } from 'node:buffer';

import { BodyReader, type Bodies, type BodyReceiver } from '../../endpoint/body.js';
import type { HttpRequest } from '../../endpoint/http-context.js';

/** Takes the body of an event, which is complete. */
export class LambdaBody extends BodyReader {
  protected override readonly remoteAddress: string | undefined;

  constructor(bodies: Bodies, request: HttpRequest, receiver: BodyReceiver) {
    super(bodies, request, receiver);
    this.remoteAddress = request.remoteAddress;
  }

  /** Hands it over. */
  take(body: Buffer | undefined): void {
    if (!this.begin()) return;
    if (body !== undefined) this.push(body);
    this.end();
  }

  /** Nothing to do: the whole body is here. */
  protected override stop(): void {}
}
