// a test may have replaced the global timers
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';

import type { McpServer, Registration } from '@decorum/core';
import { REVISIONS } from '@decorum/core/internal';
import type { AddMembersOptions } from '@decorum/core/plugin';

import type { Client } from '../client.js';
import { digestOfJson } from './canonical.js';
import { type Catalog, EMPTY_CATALOG, readCatalog } from './catalog.js';
import { type Group, GROUPS, membersOf } from './members.js';
import { Pin } from './pin.js';
import type { Taken } from './proxy-options.js';
import type { Relay } from './relay.js';

/** Milliseconds within which changes of lists are read together. */
const DEBOUNCE_MS = 50;

/** Milliseconds between two reads: an upstream may announce changes all the time. */
const SPACING_MS = 1000;

/** Milliseconds after which lists are read again: an upstream without a stream of changes can't announce them. */
const REFRESH_MS = 5 * 60_000;

/** What shared lists are made of. */
export interface SharedListsParts {
  readonly server: McpServer;
  readonly relay: Relay;
  readonly taken: Taken;
  readonly adding: AddMembersOptions;
  readonly pin: string | undefined;
  /** How often the lists are read again, in milliseconds. Defaults to five minutes. */
  readonly refreshMs?: number;
  /** Writes a line to the server's log. */
  warn(problem: string): void;
}

/** Adds what the upstream lists to a server, and keeps up with its changes. */
export class SharedLists {
  /** What the upstream listed last, as far as it is served. */
  catalog: Catalog = EMPTY_CATALOG;
  private readonly added = new Map<Group, { readonly digest: string; readonly registration: Registration }>();
  private readonly pin: Pin | undefined;
  private client: Client | undefined;
  private reading: Promise<void> | undefined;
  /** Whether a change was announced while the lists were read. */
  private isStale = false;
  private readAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private refresh: NodeJS.Timeout | undefined;
  private said = '';

  constructor(private readonly parts: SharedListsParts) {
    this.pin = parts.pin === undefined ? undefined : new Pin(parts.pin);
  }

  /** The upstream can be asked: reads its lists now. Never rejects. */
  async opened(client: Client): Promise<void> {
    this.client = client;
    clearInterval(this.refresh);
    this.refresh = setInterval(() => this.changed(), this.parts.refreshMs ?? REFRESH_MS).unref();
    await this.read();
  }

  /** The upstream can't be asked any more. */
  closed({ isEmptied }: { readonly isEmptied: boolean }): void {
    this.client = undefined;
    clearInterval(this.refresh);
    clearTimeout(this.timer);
    this.timer = undefined;
    if (isEmptied) this.serve(EMPTY_CATALOG, false);
  }

  /** The upstream has announced a change. */
  changed(): void {
    const next = Math.max(DEBOUNCE_MS, this.readAt + SPACING_MS - performance.now());
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      // an upstream may announce changes, and never answer
      if (this.reading === undefined) void this.read();
      else this.isStale = true;
    }, next).unref();
  }

  /** Whether the upstream lists a URI. */
  hasResource(uri: string): boolean {
    return this.catalog.resource.some((entry) => entry.uri === uri);
  }

  private async read(): Promise<void> {
    // one at a time: the later one must win
    while (this.reading !== undefined) await this.reading;
    const { client } = this;
    if (client === undefined) return;
    this.readAt = performance.now();
    this.isStale = false;
    this.reading = this.readFrom(client);
    await this.reading;
    this.reading = undefined;
    if (this.isStale) this.changed();
  }

  private async readFrom(client: Client): Promise<void> {
    const problems: string[] = [];
    const warn = (problem: string) => void (problems.length < 20 && problems.push(problem));
    try {
      const { taken } = this.parts;
      const capabilities = client.capabilities as Readonly<Record<string, unknown>>;
      const request = async (method: string, params: object) => await client.request(method, params as never);
      const listed = await readCatalog({ ...taken, request, warn }, (name) => capabilities[name] !== undefined);
      const { catalog, problem } = this.pin?.check(listed) ?? { catalog: listed, problem: undefined };
      if (problem !== undefined) warn(problem);
      // it may have closed meanwhile
      if (this.client === client) this.serve(catalog, completes(client), warn);
    } catch (error) {
      if (this.client !== client) return;
      warn(`could not be asked for its lists, which stay as they are: ${sentence(error)}`);
    }
    this.say(problems);
  }

  /** Replaces the lists that differ. Clients are told of these only. */
  private serve(catalog: Catalog, completes: boolean, warn: (problem: string) => void = () => {}): void {
    const { server, relay, adding } = this.parts;
    this.catalog = catalog;
    for (const uri of [
      ...catalog.resource.map((each) => each.uri),
      ...catalog.template.map((each) => each.uriTemplate),
    ])
      relay.uris.learn(uri);
    for (const group of Object.keys(GROUPS) as Group[]) {
      const digest = digestOfJson([completes, ...GROUPS[group].map((kind) => catalog[kind])]);
      const before = this.added.get(group);
      if (before?.digest === digest) continue;
      before?.registration.remove();
      const { records, handlers } = membersOf(group, catalog, { relay, completes });
      const registration = server.addMembers(records, handlers, {
        ...adding,
        // a completion without its prompt says no more than the prompt did
        onInvalid: (error) => {
          if ((error as { readonly code?: string }).code === 'DECORUM_DANGLING_COMPLETION') return;
          warn(`has an entry that is left out: ${sentence(error)}`);
        },
      });
      this.added.set(group, { digest, registration });
    }
  }

  /** Says each problem once: an upstream may announce changes all the time. */
  private say(problems: readonly string[]): void {
    const said = problems.join('\n');
    if (said !== this.said) for (const problem of problems) this.parts.warn(problem);
    this.said = said;
  }
}

/** Whether an upstream completes arguments. Servers of the oldest revision can't declare it. */
export const completes = ({ capabilities, revision }: Client): boolean =>
  capabilities.completions !== undefined || revision === REVISIONS[0]?.id;

/** The message of an error, for use before a full stop. */
export const sentence = (error: unknown): string =>
  String((error as Partial<Error> | undefined)?.message).replace(/\.$/, '');
