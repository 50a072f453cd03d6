import { HttpLimitError } from '../endpoint/http-error.js';
import type { EndpointLimits } from '../endpoint/limits.js';

type Limits = Required<Pick<EndpointLimits, 'maxListenStreams' | 'maxListenStreamsPerAddress'>>;

/** Counts the open `subscriptions/listen` requests of an endpoint. */
export class ListenStreams {
  private count = 0;
  private readonly byAddress = new Map<string, number>();

  constructor(private readonly limits: Limits) {}

  /**
   * Counts a request.
   * @param address see `addressOf`; requests without an address count only toward the cap on all requests
   * @returns a function to call when the request has ended
   * @throws {HttpError} 429 or 503
   */
  open(address: string | undefined): () => void {
    const { maxListenStreams, maxListenStreamsPerAddress } = this.limits;
    const own = address === undefined ? 0 : (this.byAddress.get(address) ?? 0);
    if (own >= maxListenStreamsPerAddress) {
      throw new HttpLimitError('maxListenStreamsPerAddress', 429, 'This address has too many subscriptions.');
    }
    if (this.count >= maxListenStreams) {
      throw new HttpLimitError('maxListenStreams', 503, 'There are too many subscriptions. Try again later.');
    }
    this.count += 1;
    if (address === undefined) return () => void (this.count -= 1);
    this.byAddress.set(address, own + 1);
    return () => this.close(address);
  }

  private close(address: string): void {
    this.count -= 1;
    const left = (this.byAddress.get(address) ?? 0) - 1;
    if (left > 0) this.byAddress.set(address, left);
    else this.byAddress.delete(address);
  }
}
