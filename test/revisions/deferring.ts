// An extension that uses every piece of the contract. Calls of a tool with the option `defer` become tickets.
import { setImmediate } from 'node:timers/promises';

import { type JsonObject, McpError } from '@decorum/core';
import type {
  Effect,
  Extension,
  ExtensionHost,
  Run,
  RunHost,
  SessionClient,
  StartingCall,
  ToolVariant,
} from '@decorum/core/plugin';

declare module '@decorum/core' {
  interface ExtensionToolOptions {
    /** `only` hides the tool from clients without the extension. */
    readonly defer?: 'only' | 'too';
  }
}

export const DEFER = 'com.example/defer';

/** What the extension has seen, and what it is told to do. */
export class Notes {
  /** What was published, by any server. */
  readonly heard: JsonObject[] = [];
  /** What handlers reported to their hosts. */
  readonly reports: unknown[] = [];
  /** The names of the tools whose calls the hook has seen. */
  readonly seen: string[] = [];
  /** What its functions were called with, by name. */
  readonly calls: { readonly name: string; readonly given: unknown }[] = [];
  host!: ExtensionHost;
  /** How to run deferred calls. */
  means: Partial<RunHost> = {};
  /** Replaces what the hook does. */
  begin: ((starting: StartingCall) => Promise<JsonObject> | undefined) | undefined;
  readonly runs = new Map<string, Run>();

  run(ticket: string): Run {
    return this.runs.get(ticket) as Run;
  }
}

/** A class with private fields, as extensions may be. */
export class Deferring implements Extension {
  readonly id = DEFER;
  readonly toolOptions = { defer: 'string' } as const;
  readonly methods = {
    'defer/read': ({ ticket }: JsonObject) => this.#read(ticket as string),
    'defer/list': {
      handle: () => ({ tickets: [...this.#notes.runs.keys()] }),
      callers: 'all',
      revisions: ['2025-11-25'],
    },
    'defer/drop': { handle: ({ ticket }: JsonObject) => this.#drop(ticket as string), subject: 'ticket' },
  } as const;
  readonly listen = { tickets: () => ({ ack: 'all', notification: (published: JsonObject) => this.#told(published) }) };
  readonly #notes: Notes;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  accepts({ off }: JsonObject): boolean {
    return off !== true;
  }

  capabilities(revision: string, { principal }: { readonly principal: unknown }): JsonObject {
    return { extensions: { [this.id]: { revision, known: principal !== undefined } } };
  }

  tool(entry: JsonObject, options: JsonObject, { declared }: ToolVariant): JsonObject | undefined {
    if (!declared) return options['defer'] === 'only' ? undefined : entry;
    // changes what it is given, as others may do
    return Object.assign(entry, { _meta: { 'com.example/defer': options['defer'] } });
  }

  start(tool: { readonly name: string }, { defer }: JsonObject) {
    if (defer === undefined) return undefined;
    return (starting: StartingCall) => {
      this.#notes.seen.push(tool.name);
      if (this.#notes.begin) return this.#notes.begin(starting);
      return starting.declared ? this.#defer(starting) : undefined;
    };
  }

  session(published: JsonObject, client: SessionClient) {
    this.#notes.calls.push({ name: 'session', given: client });
    return this.#told(published);
  }

  open(host: ExtensionHost): void {
    this.#notes.host = host;
    host.subscribe((published) => {
      this.#notes.heard.push(published);
      throw new Error('a listener that fails');
    });
  }

  stop(): void {
    this.#notes.calls.push({ name: 'stop', given: undefined });
  }

  async #defer(starting: StartingCall): Promise<JsonObject> {
    const ticket = `t${this.#notes.runs.size + 1}`;
    const run = starting.detach({
      id: ticket,
      effects: starting.effects(),
      ask: (question) => starting.ask(question),
      progress: (...report) => void this.#notes.reports.push(report),
      notify: (method, { data }) => void this.#notes.reports.push([method, data]),
      log: { record: (effect: Effect) => void this.#notes.reports.push(effect) },
      ...this.#notes.means,
    });
    // questions of the first turn are asked within the request
    await setImmediate();
    const interim = starting.interim();
    if (interim !== undefined) return await interim;
    this.#notes.runs.set(ticket, run);
    const publish = (state: string) => void this.#notes.host.publish({ ticket, state });
    run.result.then(
      ({ isError }) => publish(isError === true ? 'failed' : 'done'),
      () => publish('gone'),
    );
    return { resultType: 'ticket', ticket, _meta: { 'com.example/deferred': true } };
  }

  async #read(ticket: string): Promise<JsonObject> {
    const run = this.#notes.runs.get(ticket);
    if (run === undefined) throw new McpError('invalid-params', 'There is no such ticket.');
    return { result: await run.result };
  }

  #drop(ticket: string): JsonObject {
    this.#notes.run(ticket).cancel('client', 'It was dropped.');
    return { resultType: 'dropped' };
  }

  /** Takes longer for the first state of a ticket. */
  async #told(published: JsonObject) {
    if (published['secret'] === true) return undefined;
    if (published['state'] === 'slow') await setImmediate();
    return { method: 'notifications/tickets', params: published };
  }
}
