import type { Readable, Writable } from 'node:stream';

import { INITIALIZE, LISTEN } from '@decorum/core/internal';

import type { ActiveProgram } from '../active-program.js';
import { adapt } from '../answers.js';
import type { About, Frontend, Migration } from '../frontend.js';
import { inTime } from '../in-time.js';
import { lines } from '../lines.js';
import { ALL_CHANGED, type Catalog, differences, notificationsOf } from '../lists.js';
import { Memory } from '../memory.js';
import {
  endedFailure,
  failure,
  isJson,
  isRequest,
  isResponse,
  isSingle,
  type Json,
  keyOf,
  messagesOf,
  notification,
  paramsOf,
  parse,
  type Written,
} from '../message.js';
import type { Program } from '../program.js';
import { Questions } from '../questions.js';
import { acknowledgeLists, ACKNOWLEDGED, changeFor, isListChange, subscriptionOf } from '../subscriptions.js';
import { Backlog, cancelledBy } from './backlog.js';
import { Calls } from './calls.js';
import { Link } from './link.js';

/** The client over stdio. The relay owns stdin and stdout; programs come and go behind it. */
export class StdioFrontend implements Frontend {
  readonly port = undefined;
  private readonly memory = new Memory();
  private readonly questions = new Questions();
  private readonly calls = new Calls();
  /** Open `subscriptions/listen` requests, and the program that serves each. */
  private readonly listens = new Map<string, Written<Json> & { program: Program; acknowledged: boolean }>();
  private readonly links = new Map<Program, Link>();
  private readonly backlog = new Backlog();
  /** The catalog that the client may know. */
  private known: Promise<Catalog | undefined> | undefined;
  /** Whether the program has changed its lists since they were read. */
  private isStale = false;
  /** Resolves when the client has closed stdin and a program has received everything that the client sent. */
  readonly disconnected: Promise<void>;
  private closing = false;

  constructor(
    private readonly active: ActiveProgram,
    private readonly input: Readable,
    private readonly output: Writable,
  ) {
    lines(input, (line) => this.take(line));
    this.disconnected = this.whenDisconnected();
    output.on('error', () => {});
  }

  async migrate(next: Program, activate: () => void): Promise<Migration> {
    const link = this.linkTo(next);
    const before = this.active.current;
    const isFirst = this.known === undefined;
    // a stand-in only says that the program has ended: the client keeps the lists that it knows
    const isQuiet = next.isStandIn && !isFirst;
    const { version } = this.memory;
    await inTime(link.begin(this.memory.messages()));
    // the client has changed its session in the meantime
    if (version !== this.memory.version) await inTime(link.begin(this.memory.messages()));
    if (this.isStale && before) this.known = this.linkTo(before).catalog();
    activate();
    this.moveListens(link, before);
    for (const line of this.backlog.take()) this.take(line);
    if (isQuiet) return { changes: [], notified: 0 };
    const known = this.known;
    this.known = link.catalog();
    this.isStale = false;
    if (isFirst) return { changes: [], notified: 0 };
    const [old, now] = (await inTime(Promise.all([known, this.known]))) ?? [];
    const changes = old && now ? differences(old.lists, now.lists) : undefined;
    const methods = new Set([...(changes ? notificationsOf(changes) : ALL_CHANGED), ...link.early]);
    return { changes: changes ?? [], notified: this.notify(methods) };
  }

  async open(): Promise<void> {}

  receive(program: Program, written: Written): void {
    const link = this.linkTo(program);
    if (this.closing) return;
    if (!isSingle(written)) return this.answerBatch(program, written);
    const { message } = written;
    if (link.takes(message)) return;
    if (message['method'] === undefined) return this.answer(program, written);
    if (isRequest(message)) return this.write(this.questions.toClient(program, written));
    this.announce(link, written);
  }

  fail(program: Program, problem: string): void {
    for (const each of this.calls.fail(program, problem)) this.send(each);
    this.questions.forget(program);
    if (program.hasEnded) this.links.delete(program);
  }

  idle(program: Program): Promise<void> {
    return this.calls.idle(program);
  }

  async about(): Promise<About> {
    return { catalog: await this.known, place: 'stdio' };
  }

  log(text: string): void {
    if (!this.memory.joined || !this.memory.wantsErrors) return;
    this.send(notification('notifications/message', { level: 'error', logger: 'decorum dev', data: text }));
  }

  async close(drainMs: number): Promise<void> {
    await inTime(this.calls.allIdle(), drainMs);
    const waiting = this.backlog.requests().map(({ id }) => endedFailure(id, 'it was told to'));
    for (const each of [...this.calls.fail(undefined, 'it was told to'), ...waiting]) this.send(each);
    this.closing = true;
    this.input.destroy();
    await new Promise((resolve) => this.output.write('', resolve));
  }

  private async whenDisconnected(): Promise<void> {
    await new Promise((resolve) => this.input.once('close', resolve).once('end', resolve));
    if (!this.backlog.isEmpty) await inTime(this.active.serving());
  }

  private linkTo(program: Program): Link {
    const link = this.links.get(program) ?? new Link(program);
    this.links.set(program, link);
    return link;
  }

  /** Sends one of the relay's own messages. */
  private send(message: Json): void {
    this.write(JSON.stringify(message));
  }

  private write(text: string): void {
    if (!this.closing) this.output.write(`${text}\n`);
  }

  private take(text: string): void {
    const program = this.active.current;
    if (program === undefined) return this.backlog.add(text);
    const message = parse(text);
    if (isJson(message)) return this.route({ message, text }, program);
    if (message === undefined) this.calls.expect(text);
    else for (const each of messagesOf({ message, text })) this.count(each.message, program);
    // the program handles batches, and answers invalid messages with an error
    program.write(text);
  }

  /** Records a message of a batch. */
  private count(message: Json, program: Program): void {
    const key = cancelledBy(message);
    if (key !== undefined) this.calls.cancel(key);
    else if (isRequest(message)) this.calls.add(message, program);
  }

  /** Sends a client's message to the right program. */
  private route(written: Written<Json>, program: Program): void {
    const { message, text } = written;
    if (isResponse(message)) {
      const addressed = this.questions.toProgram(written);
      this.questions.close(message);
      return addressed?.program.write(addressed.text);
    }
    if (!isRequest(message)) return this.pass(written, program);
    const refusal = this.active.refusal(String(message['method']));
    if (refusal !== undefined) return this.send(failure(message['id'], refusal));
    this.memory.note(written);
    if (message['method'] === INITIALIZE) this.linkTo(program).hasSession = true;
    if (message['method'] === LISTEN) {
      this.listens.set(keyOf(message['id']), { message, text, program, acknowledged: false });
    } else this.calls.add(message, program);
    program.write(text);
  }

  /** Sends a client's notification to the right program. */
  private pass(written: Written<Json>, current: Program): void {
    const { message, text } = written;
    const key = cancelledBy(message);
    if (key !== undefined) {
      const program = this.calls.programOf(key) ?? this.listens.get(key)?.program ?? current;
      this.calls.cancel(key);
      this.listens.delete(key);
      return program.write(text);
    }
    const addressed = this.questions.toProgram(written);
    if (addressed) return addressed.program.write(addressed.text);
    this.memory.note(written);
    if (message['id'] !== undefined) this.calls.expect(text);
    current.write(text);
  }

  private answer(program: Program, response: Written<Json>): void {
    const { id } = response.message;
    if (id === undefined || id === null) return this.write(response.text);
    const key = keyOf(id);
    const request = this.calls.answered(program, key);
    if (request) return this.write(adapt(response, request));
    if (this.calls.answersInvalid(key)) return this.write(response.text);
    // the end of a subscription: ignore it if the subscription has moved to another program
    if (this.listens.get(key)?.program !== program) return;
    this.listens.delete(key);
    this.write(response.text);
  }

  private answerBatch(program: Program, written: Written): void {
    for (const { message } of messagesOf(written)) this.calls.answered(program, keyOf(message['id']));
    this.write(written.text);
  }

  /** Passes on a program's notification. */
  private announce(link: Link, written: Written<Json>): void {
    const { program } = link;
    const { message, text } = written;
    const { method } = message;
    const isCurrent = program === this.active.current;
    if (isListChange(method) && !isCurrent) return void link.early.add(String(method));
    if (isListChange(method)) this.isStale = true;
    if (method === ACKNOWLEDGED) {
      const listen = this.listens.get(keyOf(subscriptionOf(message)));
      if (listen?.program !== program || listen.acknowledged) return;
      listen.acknowledged = true;
      return this.write(acknowledgeLists(text, listen.message));
    }
    if (method !== 'notifications/cancelled') return this.write(text);
    const key = keyOf(paramsOf(message)['requestId']);
    const listen = this.listens.get(key);
    if (listen && listen.program !== program) return;
    this.listens.delete(key);
    this.write(this.questions.toClient(program, written));
  }

  /** Moves the client's subscriptions to the next program. */
  private moveListens(link: Link, before: Program | undefined): void {
    for (const listen of this.listens.values()) {
      listen.program = link.program;
      link.program.write(listen.text);
      if (before && !before.hasEnded) before.write(cancellationOf(listen.message));
    }
  }

  /** Tells the client that its lists have changed. Returns the number of clients that were notified. */
  private notify(methods: Iterable<string>): number {
    let notified = 0;
    for (const method of methods) {
      const changes = [...this.listens.values()].map(({ message }) => changeFor(message, method));
      if (this.memory.joined) changes.push(notification(method));
      for (const change of changes) {
        if (change === undefined) continue;
        this.send(change);
        notified = 1;
      }
    }
    return notified;
  }
}

/** `notifications/cancelled` for a request, as text. */
function cancellationOf({ id: requestId }: Json): string {
  return JSON.stringify(notification('notifications/cancelled', { requestId, reason: 'The program was replaced.' }));
}
