import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

import { INITIALIZE, LISTEN } from '@decorum/core/transport';

import { adapt } from '../answers.js';
import { Flights } from '../flights.js';
import type { About, Adoption, Front, Stage } from '../front.js';
import { inTime } from '../in-time.js';
import { lines } from '../lines.js';
import { ALL_CHANGED, differences, type Lists, notificationsOf } from '../lists.js';
import { Memory } from '../memory.js';
import {
  failure,
  type Id,
  isJson,
  isRequest,
  isResponse,
  type Json,
  keyOf,
  notification,
  paramsOf,
  parse,
} from '../message.js';
import type { Program } from '../program.js';
import { Questions } from '../questions.js';
import { acknowledgeLists, ACKNOWLEDGED, changeFor, isListChange, subscriptionOf } from '../subscriptions.js';
import { cancelled, Link } from './link.js';

const INVALID_REQUEST = -32_600;

const isInvalid = ({ error }: Json): boolean => isJson(error) && error['code'] === INVALID_REQUEST;

/** A client's request in flight. */
interface Flight {
  readonly program: Program;
  readonly message: Json;
  readonly land: () => void;
}

/** The client over stdio. The relay owns stdin and stdout; programs come and go behind it. */
export class StdioFront implements Front {
  readonly port = undefined;
  private readonly memory = new Memory();
  private readonly questions = new Questions();
  private readonly flights = new Flights();
  private readonly inFlight = new Map<string, Flight>();
  /** Open `subscriptions/listen` requests, and the program that serves each. */
  private readonly listens = new Map<string, { message: Json; program: Program; acknowledged: boolean }>();
  private readonly links = new Map<Program, Link>();
  /** Lines that arrived while no program served. */
  private readonly backlog: string[] = [];
  /** The lists that the client may know. */
  private known: Promise<Lists | undefined> | undefined;
  /** Whether the program has changed its lists since they were read. */
  private isStale = false;
  /** Resolves when the client has closed stdin and a program has received everything that the client sent. */
  readonly left: Promise<void>;
  private closing = false;

  constructor(
    private readonly stage: Stage,
    private readonly input: Readable,
    private readonly output: Writable,
  ) {
    lines(input, (line) => this.take(line));
    this.left = this.whenLeft();
    output.on('error', () => {});
  }

  async adopt(next: Program, switchOver: () => void): Promise<Adoption> {
    const link = this.linkTo(next);
    const before = this.stage.current;
    const isFirst = this.known === undefined;
    // a stand-in only says that the program has ended: the client keeps the lists that it knows
    const isQuiet = next.isStandIn && !isFirst;
    const version = await inTime(this.begin(link));
    if (version !== this.memory.version) await inTime(this.begin(link));
    if (this.isStale && before) this.known = this.linkTo(before).lists();
    switchOver();
    this.moveListens(link, before);
    for (const line of this.backlog.splice(0)) this.take(line);
    if (isQuiet) return { changes: [], told: 0 };
    const known = this.known;
    this.known = link.lists();
    this.isStale = false;
    if (isFirst) return { changes: [], told: 0 };
    const [old, lists] = (await inTime(Promise.all([known, this.known]))) ?? [];
    const changes = old && lists ? differences(old, lists) : undefined;
    const methods = new Set([...(changes ? notificationsOf(changes) : ALL_CHANGED), ...link.early]);
    return { changes: changes ?? [], told: this.tell(methods) };
  }

  async open(): Promise<void> {}

  hear(program: Program, message: Json | readonly Json[]): void {
    const link = this.linkTo(program);
    if (this.closing) return;
    if (!isJson(message)) return this.answerBatch(program, message);
    if (link.takes(message)) return;
    if (message['method'] === undefined) return this.answer(program, message);
    if (isRequest(message)) return this.send(this.questions.ask(program, message));
    this.announce(link, message);
  }

  lost(program: Program, problem: string): void {
    for (const [key, { program: its, message, land }] of this.inFlight) {
      if (its !== program) continue;
      this.inFlight.delete(key);
      land();
      this.send(failure(message['id'], `The program has ended: ${problem}.`));
    }
    this.questions.forget(program);
    if (program.hasEnded) this.links.delete(program);
  }

  idle(program: Program): Promise<void> {
    return this.flights.idle(program);
  }

  async about(program: Program): Promise<About> {
    const lists = await this.known;
    const { name, version } = this.linkTo(program).about;
    return {
      name: typeof name === 'string' ? name : undefined,
      version: typeof version === 'string' ? version : undefined,
      lists,
      place: 'stdio',
    };
  }

  log(text: string): void {
    if (!this.memory.joined || !this.memory.wantsErrors) return;
    this.send(notification('notifications/message', { level: 'error', logger: 'decorum dev', data: text }));
  }

  async close(drainMs: number): Promise<void> {
    await Promise.race([this.flights.allIdle(), wait(drainMs, undefined, { ref: false })]);
    for (const { program } of this.inFlight.values()) this.lost(program, 'it was told to');
    for (const each of this.backlog.flatMap((line) => parse(line) ?? [])) {
      if (isRequest(each)) this.send(failure(each['id'], 'The program has ended: it was told to.'));
    }
    this.closing = true;
    this.input.destroy();
    await new Promise((resolve) => this.output.write('', resolve));
  }

  private async whenLeft(): Promise<void> {
    await new Promise((resolve) => this.input.once('close', resolve).once('end', resolve));
    if (this.backlog.length > 0) await inTime(this.stage.serving());
  }

  private linkTo(program: Program): Link {
    const link = this.links.get(program) ?? new Link(program);
    this.links.set(program, link);
    return link;
  }

  /** Begins the client's session, if it has one, in a program. Returns the version of the memory that was replayed. */
  private async begin(link: Link): Promise<number> {
    const { version, initialize } = this.memory;
    if (initialize) await link.begin(initialize, this.memory.replay());
    return version;
  }

  private send(message: Json | readonly Json[]): void {
    if (!this.closing) this.output.write(`${JSON.stringify(message)}\n`);
  }

  private take(line: string): void {
    if (this.stage.current === undefined) return void this.backlog.push(line);
    const message = parse(line);
    if (isJson(message)) return this.route(message);
    for (const each of message ?? []) if (isRequest(each)) this.fly(each);
    // the program handles batches, and answers invalid messages with an error
    this.stage.current?.write(line);
  }

  /** Sends a client's message to the right program. */
  private route(message: Json): void {
    const program = this.stage.current as Program;
    if (isResponse(message)) {
      const question = this.questions.answer(message);
      return question && this.linkTo(question.program).tell({ ...message, id: question.id });
    }
    if (!isRequest(message)) return this.pass(message, program);
    const refusal = this.stage.refusal(String(message['method']));
    if (refusal !== undefined) return this.send(failure(message['id'], refusal));
    this.memory.note(message);
    if (message['method'] === INITIALIZE) this.linkTo(program).hasSession = true;
    if (message['method'] === LISTEN) {
      this.listens.set(keyOf(message['id']), { message, program, acknowledged: false });
    } else this.fly(message);
    this.linkTo(program).tell(message);
  }

  /** Sends a client's notification to the right program. */
  private pass(message: Json, current: Program): void {
    const params = paramsOf(message);
    const key = keyOf(params['requestId']);
    if (message['method'] === 'notifications/cancelled') {
      const program = (this.inFlight.get(key) ?? this.listens.get(key))?.program ?? current;
      this.listens.delete(key);
      return this.linkTo(program).tell(message);
    }
    const question = message['method'] === 'notifications/progress' && this.questions.progress(message);
    if (question) {
      const renamed = { ...message, params: { ...params, progressToken: question.token } };
      return this.linkTo(question.program).tell(renamed);
    }
    this.memory.note(message);
    this.linkTo(current).tell(message);
  }

  private fly(message: Json): void {
    const { current: program } = this.stage;
    if (program) this.inFlight.set(keyOf(message['id']), { program, message, land: this.flights.take(program) });
  }

  private answer(program: Program, response: Json): void {
    const { id } = response;
    if (id === undefined || id === null) return this.send(response);
    const key = keyOf(id);
    const flight = this.inFlight.get(key);
    if (flight?.program === program) {
      this.inFlight.delete(key);
      flight.land();
      return this.send(adapt(response, flight.message));
    }
    // the client's message had an id, but was no valid request
    if (flight === undefined && isInvalid(response)) return this.send(response);
    // the end of a subscription: ignore it if the subscription has moved to another program
    if (this.listens.get(key)?.program !== program) return;
    this.listens.delete(key);
    this.send(response);
  }

  private answerBatch(program: Program, messages: readonly Json[]): void {
    for (const { id } of messages) {
      const flight = this.inFlight.get(keyOf(id));
      if (flight?.program !== program) continue;
      this.inFlight.delete(keyOf(id));
      flight.land();
    }
    this.send(messages);
  }

  /** Passes on a program's notification. */
  private announce(link: Link, message: Json): void {
    const { program } = link;
    const { method } = message;
    const isCurrent = program === this.stage.current;
    if (isListChange(method) && !isCurrent) return void link.early.add(String(method));
    if (isListChange(method)) this.isStale = true;
    if (method === ACKNOWLEDGED) {
      const listen = this.listens.get(keyOf(subscriptionOf(message)));
      if (listen?.program !== program || listen.acknowledged) return;
      listen.acknowledged = true;
      return this.send(acknowledgeLists(message, listen.message));
    }
    if (method !== 'notifications/cancelled') return this.send(message);
    const key = keyOf(paramsOf(message)['requestId']);
    const listen = this.listens.get(key);
    if (listen && listen.program !== program) return;
    this.listens.delete(key);
    this.send(this.questions.cancel(program, message));
  }

  /** Moves the client's subscriptions to the next program. */
  private moveListens(link: Link, before: Program | undefined): void {
    for (const listen of this.listens.values()) {
      listen.program = link.program;
      link.tell(listen.message);
      if (before && !before.hasEnded) this.linkTo(before).tell(cancelled(listen.message['id'] as Id));
    }
  }

  /** Tells the client that its lists have changed. Returns the number of clients told. */
  private tell(methods: Iterable<string>): number {
    let told = 0;
    for (const method of methods) {
      const changes = [...this.listens.values()].map(({ message }) => changeFor(message, method));
      if (this.memory.joined) changes.push(notification(method));
      for (const change of changes) {
        if (change === undefined) continue;
        this.send(change);
        told = 1;
      }
    }
    return told;
  }
}
