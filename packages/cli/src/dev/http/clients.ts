import type { Migration } from '../frontend.js';
import { inTime } from '../in-time.js';
import { ALL_CHANGED, type Change, differences, notificationsOf } from '../lists.js';
import type { Program } from '../program.js';
import { type Caller, Catalogs, keyOfCaller, type Served } from './catalogs.js';
import type { RelayedPost } from './relayed-post.js';
import type { Guard } from './guard.js';
import type { ListenStream } from './held-stream.js';
import type { RelayedSession } from './relayed-session.js';

const MAX_SESSIONS = 200;
/** Where a program may serve MCP. Tried when it serves for the first time: an edit repeats nothing elsewhere. */
const USUAL_PATHS = ['/mcp', '/'];

type ChangesFor = (caller?: Caller) => Promise<readonly Change[] | undefined>;

/** All clients over HTTP: their sessions, streams and requests in flight. */
export class Clients {
  readonly sessions = new Map<string, RelayedSession>();
  readonly listens = new Set<ListenStream>();
  readonly posts = new Set<RelayedPost>();
  private readonly catalogs = new Catalogs();
  /** The last program that wasn't a stand-in. Clients know its lists. */
  private known: Program | undefined;

  constructor(private readonly guard: Guard) {}

  /** Records that a program has answered a client as MCP. */
  serves({ path, headers }: Caller): void {
    this.catalogs.serves(path);
    this.guard.accept(headers);
  }

  /** Adds a session. Above the cap, evicts an idle one, because some clients never end their sessions. */
  add(session: RelayedSession): void {
    this.sessions.set(session.id, session);
    if (this.sessions.size <= MAX_SESSIONS) return;
    const idle = [...this.sessions.values()].find(({ streams, inFlight }) => streams.size + inFlight.size === 0);
    if (idle && idle !== session) this.sessions.delete(idle.id);
  }

  /** Records that a running program has changed its lists. */
  changed(program: Program): void {
    this.catalogs.forget(program);
  }

  /**
   * What a program serves to everybody; undefined if that can't be known.
   * @param isFirst whether it is the first program: only then, the usual paths are tried
   */
  catalogOf(program: Program, isFirst: boolean): Promise<Served | undefined> {
    return this.catalogs.of(program, undefined, isFirst ? USUAL_PATHS : []);
  }

  /** Begins all sessions in a program. The returned function moves streams to it and tells clients what has changed. */
  async move(next: Program): Promise<() => Promise<Migration>> {
    const before = this.known;
    // a stand-in only says that the program has ended: clients keep the lists that they know
    const isQuiet = next.isStandIn && before !== undefined;
    if (!isQuiet) this.known = next;
    await this.inAllSessions((session) => session.idIn(next).catch(() => {}));
    return async () => {
      await this.inAllSessions((session) => session.catchUp(next));
      const pushes = [...this.sessions.values()].flatMap(({ streams }) => [...streams]);
      await inTime(Promise.all([...pushes, ...this.listens].map((each) => each.reopen(next))));
      const changes = isQuiet ? async () => [] : this.changesSince(before, next);
      await Promise.all([undefined, ...this.sessions.values(), ...this.listens].map(changes));
      return this.notify(changes);
    };
  }

  private async inAllSessions(run: (session: RelayedSession) => Promise<unknown>): Promise<void> {
    await inTime(Promise.all([...this.sessions.values()].map(run)));
  }

  /** A function that finds the changes for a client, or for nobody in particular; undefined if they can't be known. */
  private changesSince(before: Program | undefined, next: Program): ChangesFor {
    const all = new Map<string, Promise<readonly Change[] | undefined>>();
    const changesFor: ChangesFor = async (caller) => {
      if (before === undefined) return [];
      const both = Promise.all([this.catalogs.of(before, caller), this.catalogs.of(next, caller)]);
      const [old, now] = (await inTime(both)) ?? [];
      return old && now && differences(old.lists, now.lists);
    };
    return (caller) => {
      const key = keyOfCaller(caller);
      const changes = all.get(key) ?? changesFor(caller);
      all.set(key, changes);
      return changes;
    };
  }

  private async notify(changesFor: ChangesFor): Promise<Migration> {
    let notified = 0;
    const all = new Map<string, Change>();
    const methodsFor = async (caller?: Caller) => {
      const changes = await changesFor(caller);
      for (const change of changes ?? []) all.set(`${change.sign}${change.kind}${change.name}`, change);
      return changes ? notificationsOf(changes) : ALL_CHANGED;
    };
    await methodsFor();
    for (const session of this.sessions.values()) {
      const methods = await methodsFor(session);
      if (session.memory.joined && session.notify(methods)) notified += 1;
    }
    for (const listen of this.listens) {
      const methods = await methodsFor(listen);
      if (methods.map((method) => listen.notify(method)).includes(true)) notified += 1;
    }
    return { changes: [...all.values()], notified };
  }
}
