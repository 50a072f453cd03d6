import type { ActiveProgram } from '../active-program.js';
import type { RequestCounts } from '../request-counts.js';
import { endedFailure, type Json, type Written } from '../message.js';
import type { Program } from '../program.js';
import type { Clients } from './clients.js';
import { type HeldStream, ListenStream, PushStream } from './held-stream.js';
import type { Incoming } from './incoming.js';
import { type RelayedSession, NotAccepted } from './relayed-session.js';

/** Opens streams that stay open while programs come and go. */
export class Streams {
  constructor(
    private readonly active: ActiveProgram,
    private readonly clients: Clients,
    private readonly inFlight: RequestCounts,
  ) {}

  /** Serves `subscriptions/listen`. */
  async listen(incoming: Incoming, written: Written<Json>, program: Program): Promise<void> {
    // an acknowledged subscription moves to the next program; until then, it is a request in flight
    const end = this.inFlight.begin(program);
    const stream = new ListenStream(incoming, written, {
      changed: (changed) => this.clients.changed(changed),
      accepted: () => {
        end();
        this.clients.listens.add(stream);
        if (!program.isStandIn) this.clients.serves(incoming);
        this.moveOn(stream, program);
      },
    });
    try {
      await stream.open(program);
      await incoming.over;
    } catch {
      incoming.answerInPlace(200, endedFailure(written.message['id'], await program.ended));
    } finally {
      end();
      this.clients.listens.delete(stream);
    }
  }

  /** Serves a session's GET stream. */
  async open(incoming: Incoming, session: RelayedSession, program: Program): Promise<void> {
    const stream = new PushStream(incoming, session, {
      changed: (changed) => this.clients.changed(changed),
      accepted: () => {
        session.streams.add(stream);
        this.moveOn(stream, program);
      },
    });
    try {
      await stream.open(program);
      await incoming.over;
    } catch (error) {
      if (error instanceof NotAccepted) incoming.answerLike(error.answered);
      else incoming.response.destroy();
    } finally {
      session.streams.delete(stream);
    }
  }

  /** Moves a stream that a program has accepted after the other streams have moved to the next one. */
  private moveOn(stream: HeldStream, accepted: Program): void {
    const { current } = this.active;
    if (current && current !== accepted) void stream.reopen(current);
  }
}
