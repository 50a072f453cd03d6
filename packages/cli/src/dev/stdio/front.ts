import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

import { INITIALIZE, LISTEN } from '@decorum/core/transport';

import { adapt } from '../answers.js';
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
import { forAsker, Questions } from '../questions.js';
import { acknowledgeLists, ACKNOWLEDGED, changeFor, isListChange, subscriptionOf } from '../subscriptions.js';
import { Backlog, cancelledBy } from './backlog.js';
import { Calls } from './calls.js';
import { cancelled, Link } from './link.js';

/** The client over stdio. The relay owns stdin and stdout; programs come and go behind it. */
export class StdioFront implements Front {
  readonly port = undefined;
  private readonly memory = new Memory();
  private readonly questions = new Questions();
  private readonly calls = new Calls();
  /** Open `subscriptions/listen` requests, and the program that serves each. */
  private readonly listens = new Map<string, Written<Json> & { program: Program; acknowledged: boolean }>();
  private readonly links = new Map<Program, Link>();
  private readonly backlog = new Backlog();
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
    for (const line of this.backlog.take()) this.take(line);
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

  hear(program: Program, written: Written): void {
    const link = this.linkTo(program);
    if (this.closing) return;
    if (!isSingle(written)) return this.answerBatch(program, written);
    const { message, text } = written;
    if (link.takes(message)) return;
    if (message['method'] === undefined) return this.answer(program, written);
    if (isRequest(message)) return this.write(this.questions.ask(program, text));
    this.announce(link, written);
  }

  lost(program: Program, problem: string): void {
    for (const each of this.calls.fail(program, problem)) this.send(each);
    this.questions.forget(program);
    if (program.hasEnded) this.links.delete(program);
  }

  idle(program: Program): Promise<void> {
    return this.calls.idle(program);
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
    await Promise.race([this.calls.allIdle(), wait(drainMs, undefined, { ref: false })]);
    for (const each of this.calls.failAll('it was told to')) this.send(each);
    for (const { id } of this.backlog.requests()) this.send(failure(id, 'The program has ended: it was told to.'));
    this.closing = true;
    this.input.destroy();
    await new Promise((resolve) => this.output.write('', resolve));
  }

  private async whenLeft(): Promise<void> {
    await new Promise((resolve) => this.input.once('close', resolve).once('end', resolve));
    if (!this.backlog.isEmpty) await inTime(this.stage.serving());
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

  /** Sends one of the relay's own messages. */
  private send(message: Json): void {
    this.write(JSON.stringify(message));
  }

  private write(text: string): void {
    if (!this.closing) this.output.write(`${text}\n`);
  }

  private take(text: string): void {
    const program = this.stage.current;
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
      const question = this.questions.answeredBy(message);
      this.questions.close(message);
      return question?.program.write(forAsker(written, question));
    }
    if (!isRequest(message)) return this.pass(written, program);
    const refusal = this.stage.refusal(String(message['method']));
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
    const question = message['method'] === 'notifications/progress' && this.questions.progress(message);
    if (question) return question.program.write(forAsker(written, question));
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
  private announce(link: Link, { message, text }: Written<Json>): void {
    const { program } = link;
    const { method } = message;
    const isCurrent = program === this.stage.current;
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
    this.write(this.questions.cancel(program, text));
  }

  /** Moves the client's subscriptions to the next program. */
  private moveListens(link: Link, before: Program | undefined): void {
    for (const listen of this.listens.values()) {
      listen.program = link.program;
      link.program.write(listen.text);
      if (before && !before.hasEnded) before.write(cancelled(listen.message['id'] as Id));
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
