import type { Flights } from '../flights.js';
import type { Stage } from '../front.js';
import { failure, type Json, type Written } from '../message.js';
import type { Program } from '../program.js';
import type { Clients } from './clients.js';
import type { Incoming } from './incoming.js';
import { ListenStream } from './listen-stream.js';
import { PushStream } from './push-stream.js';
import { type HttpSession, NotAccepted } from './session.js';

/** Opens streams that stay open while programs come and go. A stream moves only after a program has accepted it. */
export class Streams {
  constructor(
    private readonly stage: Stage,
    private readonly clients: Clients,
    private readonly flights: Flights,
  ) {}

  /** Serves `subscriptions/listen`. */
  async listen(incoming: Incoming, written: Written<Json>, program: Program): Promise<void> {
    // an acknowledged subscription moves to the next program; until then, it is a request in flight
    const release = this.flights.take(program);
    const stream = new ListenStream(incoming, written, {
      changed: (changed) => this.clients.changed(changed),
      acknowledged: () => {
        release();
        this.clients.listens.add(stream);
        if (!program.isStandIn) this.clients.serves(incoming);
        this.moveOn(stream, program);
      },
    });
    try {
      await stream.open(program);
      await stream.over;
    } catch {
      const problem = `The program has ended: ${await program.ended}.`;
      incoming.answerInPlace(200, failure(written.message['id'], problem));
    } finally {
      release();
      this.clients.listens.delete(stream);
    }
  }

  /** Moves a stream that a program has opened after the other streams have moved to the next one. */
  private moveOn(stream: { reopen(program: Program): Promise<void> }, opened: Program): void {
    const { current } = this.stage;
    if (current && current !== opened) void stream.reopen(current);
  }

  /** Serves a session's GET stream. */
  async open(incoming: Incoming, session: HttpSession, program: Program): Promise<void> {
    const stream = new PushStream(incoming, session, {
      changed: (changed) => this.clients.changed(changed),
      opened: () => {
        session.streams.add(stream);
        this.moveOn(stream, program);
      },
    });
    const [, number, eventId] = /^(\d+)-(.*)$/.exec(incoming.header('last-event-id') ?? '') ?? [];
    try {
      // the events of earlier programs are lost
      await stream.open(program, Number(number) === program.number ? eventId : undefined);
      await stream.over;
    } catch (error) {
      if (error instanceof NotAccepted) incoming.refused(error);
      else incoming.response.destroy();
    } finally {
      session.streams.delete(stream);
    }
  }
}
