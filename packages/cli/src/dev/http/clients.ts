import type { About, Adoption } from '../front.js';
import { inTime } from '../in-time.js';
import { ALL_CHANGED, type Change, differences, notificationsOf } from '../lists.js';
import type { Program } from '../program.js';
import type { Exchange } from './exchange.js';
import type { Guard } from './guard.js';
import type { ListenStream } from './listen-stream.js';
import type { HttpSession } from './session.js';
import { type Caller, keyOfView, Views } from './views.js';

const MAX_SESSIONS = 200;
/** Where a program may serve MCP. Looked at when it serves for the first time: an edit repeats nothing elsewhere. */
const USUAL_PATHS = ['/mcp', '/'];

/** All clients over HTTP: their sessions, streams and requests in flight. */
export class Clients {
  readonly sessions = new Map<string, HttpSession>();
  readonly listens = new Set<ListenStream>();
  readonly exchanges = new Set<Exchange>();
  private readonly views = new Views();
  /** The last program that wasn't a stand-in. Clients know its lists. */
  private known: Program | undefined;

  constructor(private readonly guard: Guard) {}

  /** Records that a program has answered a client as MCP. */
  serves({ path, headers }: Caller): void {
    this.views.serves(path);
    this.guard.accept(headers);
  }

  /** Adds a session. Above the cap, evicts an idle one, because some clients never end their sessions. */
  add(session: HttpSession): void {
    this.sessions.set(session.id, session);
    if (this.sessions.size <= MAX_SESSIONS) return;
    const idle = [...this.sessions.values()].find(({ streams, inFlight }) => streams.size + inFlight.size === 0);
    if (idle && idle !== session) this.sessions.delete(idle.id);
  }

  changed(program: Program): void {
    this.views.forget(program);
  }

  async about(program: Program, origin: string): Promise<About> {
    const view = await this.views.of(program, undefined, USUAL_PATHS);
    const { name, version } = view?.about ?? {};
    return {
      name: typeof name === 'string' ? name : undefined,
      version: typeof version === 'string' ? version : undefined,
      lists: view?.lists,
      place: `${origin}${view?.path ?? ''}`,
    };
  }

  /** Begins all sessions in a program. The returned function moves streams to it and tells clients what has changed. */
  async move(next: Program): Promise<() => Promise<Adoption>> {
    const before = this.known;
    // a stand-in only says that the program has ended: clients keep the lists that they know
    const isQuiet = next.isStandIn && before !== undefined;
    if (!isQuiet) this.known = next;
    const sessions = [...this.sessions.values()];
    await inTime(Promise.all(sessions.map((session) => session.idIn(next).catch(() => undefined))));
    return async () => {
      await inTime(Promise.all([...this.sessions.values()].map((session) => session.catchUp(next))));
      const pushes = [...this.sessions.values()].flatMap(({ streams }) => [...streams]);
      await inTime(Promise.all([...pushes, ...this.listens].map((each) => each.reopen(next))));
      return this.tell(isQuiet ? async () => [] : await this.compare(before, next));
    };
  }

  /** A function that finds the changes for a client, or for nobody in particular; undefined if they can't be known. */
  private async compare(
    before: Program | undefined,
    next: Program,
  ): Promise<(caller?: Caller) => Promise<readonly Change[] | undefined>> {
    const changes = async (caller: Caller | undefined) => {
      if (before === undefined) return [];
      const both = Promise.all([this.views.of(before, caller), this.views.of(next, caller)]);
      const [old, now] = (await inTime(both)) ?? [];
      return old && now && differences(old.lists, now.lists);
    };
    const all = new Map<string, Promise<readonly Change[] | undefined>>();
    const of = (caller?: Caller) => {
      const key = keyOfView(caller);
      const known = all.get(key) ?? changes(caller);
      all.set(key, known);
      return known;
    };
    await Promise.all([undefined, ...this.sessions.values(), ...this.listens].map(of));
    return of;
  }

  private async tell(changesFor: (caller?: Caller) => Promise<readonly Change[] | undefined>): Promise<Adoption> {
    let told = 0;
    const all = new Map<string, Change>();
    const note = (changes: readonly Change[] | undefined) => {
      for (const change of changes ?? []) all.set(`${change.sign}${change.kind}${change.name}`, change);
      return changes ? notificationsOf(changes) : ALL_CHANGED;
    };
    note((await changesFor()) ?? []);
    for (const session of this.sessions.values()) {
      const methods = note(await changesFor(session));
      if (session.memory.joined && tellSession(session, methods)) told += 1;
    }
    for (const listen of this.listens) {
      const methods = note(await changesFor(listen));
      if (methods.map((method) => listen.notify(method)).includes(true)) told += 1;
    }
    return { changes: [...all.values()], told };
  }
}

function tellSession(session: HttpSession, methods: readonly string[]): boolean {
  const [stream] = session.streams;
  for (const method of methods) {
    if (stream) stream.notify(method);
    else session.untold.add(method);
  }
  return stream !== undefined && methods.length > 0;
}
