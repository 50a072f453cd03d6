import { setTimeout as wait } from 'node:timers/promises';

import type { Call } from './call.js';
import type { Identity } from './client.js';
import type { Disturber } from './disturber.js';
import { HttpClient, type Reading } from './http-client.js';
import type { Message } from './messages.js';

/** Milliseconds until something is repeated. */
const AGAIN_MS = 100;
/** The proxy has lost the node. */
const BAD_GATEWAY = 502;
/** The node can't reach Redis. */
const UNAVAILABLE = 503;
/** No node knows the event after which a stream is to be resumed. */
const UNKNOWN = 400;
/** The beginning of the error for a request whose node is dead. */
const LOST = 'The response to this request is lost';

/**
 * A client of several nodes. What is lost with a node it repeats once, what gets a 503 until there is an answer, and it
 * resumes streams elsewhere.
 */
export class SturdyClient extends HttpClient {
  /** The messages of requests. */
  private readonly bodies = new Map<Call, string>();
  private readonly repeated = new Set<Call | string>();

  constructor(
    identity: Identity,
    url: URL,
    private readonly disturber: Disturber,
  ) {
    super(identity, url);
  }

  override async leave(): Promise<void> {
    this.gone = true;
    let status = this.stateless ? 204 : 0;
    for (let tries = 1; status !== 204; tries += 1) {
      status = await this.status('DELETE', this.headers).catch(() => 0);
      // the first one may have ended the session before its node died
      if (status === 404 && tries > 1) break;
      this.require([0, 204, BAD_GATEWAY, UNAVAILABLE].includes(status), `DELETE got status ${status}`);
      if (status !== 204) await wait(AGAIN_MS);
    }
    this.cut();
  }

  protected override send(body: string, call?: Call): void {
    if (call) this.bodies.set(call, body);
    super.send(body, call);
  }

  protected override settle(message: Message): void {
    const call = this.calls.get(message.id);
    if (!message.error?.message.startsWith(LOST) || call?.state !== 'open') return super.settle(message);
    if (this.mayRepeat(call, message.error.message)) this.restart(call);
  }

  protected override accepts({ response, sent }: Reading): boolean {
    const { statusCode: status = 0 } = response ?? {};
    return status !== BAD_GATEWAY && status !== UNAVAILABLE && !(status === UNKNOWN && sent.method === 'GET');
  }

  protected override finished(reading: Reading, what: string): void {
    const { call, response, isCut, sent, body } = reading;
    const status = response?.statusCode;
    if (this.gone || isCut) return;
    if (status === BAD_GATEWAY || status === UNAVAILABLE) return void this.again(reading, status, what);
    if (status === UNKNOWN && sent.method === 'GET' && call) {
      const { lastEventId = '' } = reading;
      // it may not be stored yet; or never, because the node died after it sent the event
      if (!this.repeated.has(lastEventId)) {
        this.repeated.add(lastEventId);
        return void this.resume(reading);
      }
      if (this.mayRepeat(call, what)) this.restart(call);
      return;
    }
    const isStream = status === 200 && sent.method === 'GET';
    if (isStream && (call === undefined || call.state === 'open')) return void this.resume(reading);
    // the question belonged to a node that is dead
    if (call === undefined && body !== undefined && status !== 202 && this.disturber.isFelt) return;
    super.finished(reading, what);
  }

  protected override broke(reading: Reading, problem: string): void {
    if (this.gone || reading.isCut) return;
    void this.again(reading, 0, problem);
  }

  /** Repeats a request, or resumes its stream. */
  private async again(reading: Reading, status: number, problem: string): Promise<void> {
    const { call, lastEventId, body, sent } = reading;
    if (call !== undefined && call.state !== 'open') return;
    if (sent.method === 'GET' || (lastEventId !== undefined && !this.stateless)) return await this.resume(reading);
    if (status === UNAVAILABLE) this.ledger.postponed += 1;
    else if (!this.mayRepeat(call ?? (body as string), problem)) return;
    await wait(AGAIN_MS);
    if (this.gone) return;
    if (call === undefined) this.send(body as string);
    else this.restart(call);
  }

  private async resume({ call, lastEventId }: Reading): Promise<void> {
    await wait(AGAIN_MS);
    if (!this.gone) await this.get(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }, call);
  }

  /** Whether something may be repeated: once, and only after a disturbance. */
  private mayRepeat(what: Call | string, problem: string): boolean {
    if (!this.repeated.has(what) && this.disturber.isFelt) {
      this.repeated.add(what);
      this.ledger.repeated += 1;
      return true;
    }
    const why = this.disturber.isFelt ? 'was lost twice' : 'was lost without a reason';
    if (typeof what === 'string') this.fail(`${what.slice(0, 200)} ${why}: ${problem}`);
    else what.lose(`${why}: ${problem}`);
    return false;
  }

  /** Sends a request again, with another id. */
  private restart(call: Call): void {
    const message = JSON.parse(this.bodies.get(call) ?? '') as Message;
    const id = (this.last += 1);
    const { _meta: meta } = (message.params ?? {}) as { _meta?: Message['params'] };
    const isFollowed = meta?.['progressToken'] !== undefined;
    const params = isFollowed ? { ...message.params, _meta: { ...meta, progressToken: id } } : message.params;
    call.restart(id);
    this.calls.set(id, call);
    this.send(JSON.stringify({ ...message, id, ...(params && { params }) }), call);
  }
}
