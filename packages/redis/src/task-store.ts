import { createHash } from 'node:crypto';

import { startupError } from '@decorum/core/plugin';
import type { OpenTask, StoredTask, TaskCounts, TaskPage, TaskStore, TaskStoreServer } from '@decorum/tasks';

import type { Link } from './link.js';
import { COUNT_TASKS, DELETE_TASK, LIST_TASKS, OPEN_TASKS, SET_TASK } from './task-scripts.js';

/** What can be read of a task by those who read Redis. */
type Facts = Pick<StoredTask, 'isOpen' | 'createdAt' | 'expiresAt' | 'holder'>;

/** What never changes, and is sealed: whoever knows the id of a task without an owner may see it. */
type Head = Pick<StoredTask, 'id' | 'owner'>;

/** Digits of the time in a place by age. */
const DIGITS = 16;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** The place of a task in the list of its owner. Redis sorts places as bytes. */
const placeOf = ({ id, createdAt }: Pick<StoredTask, 'id' | 'createdAt'>): string =>
  `${String(createdAt).padStart(DIGITS, '0')}${digestOf(id)}`;

/**
 * Keeps tasks: a hash for each, and indexes, which are all in one slot, because each change is one step. Indexes expire
 * with their last task.
 */
export class RedisTaskStore implements TaskStore {
  readonly isDurable = true;
  /** The ids of the open tasks by their sealed heads, because a seal takes longer to open than the rest. */
  private ids = new Map<string, string>();

  constructor(private readonly link: Link) {}

  /** @throws {DecorumError} `DECORUM_INVALID_OPTION` if the server has another `cluster` */
  open({ name }: TaskStoreServer): void {
    if (this.link.serverName === name) return;
    throw startupError(
      'DECORUM_INVALID_OPTION',
      'tasks',
      'store',
      `belongs to a redis(…) that is not the \`cluster\` of the server "${name}". Pass the same one to both: \`cluster: engine\` and \`tasks({ store: engine.tasks })\``,
    );
  }

  async get(id: string): Promise<StoredTask | undefined> {
    const task = await this.read(digestOf(id));
    return task?.id === id ? task : undefined;
  }

  async set({ id, version, owner, text, ...facts }: StoredTask): Promise<boolean> {
    const [digest, ownerDigest] = [digestOf(id), digestOf(owner)];
    const head: Head = { id, owner };
    const place = placeOf({ id, createdAt: facts.createdAt });
    const sealed = version === 1 ? this.link.seal(JSON.stringify(head), bindingOf(digest)) : '';
    const holder = facts.isOpen ? JSON.stringify(facts.holder ?? null) : '';
    const about = [version - 1, version, facts.expiresAt ?? 'inf', JSON.stringify(facts satisfies Facts), text];
    const where = [place, digest, ownerDigest, sealed, holder];
    return (await this.link.script(SET_TASK, this.keysOf(digest, ownerDigest), [...about, ...where])) === 1;
  }

  async delete(id: string): Promise<void> {
    const digest = digestOf(id);
    const [place, owner] = await this.fieldsOf(digest, ['p', 'o']);
    if (place === undefined || owner === undefined) return;
    await this.link.script(DELETE_TASK, this.keysOf(digest, owner), [place, digest]);
  }

  async list(owner: string, { after, limit }: TaskPage): Promise<readonly StoredTask[]> {
    const [, ...keys] = this.keysOf('', digestOf(owner));
    const found: StoredTask[] = [];
    let last = after && placeOf(after);
    for (;;) {
      const wanted = limit - found.length;
      const from = last === undefined ? '-' : `(${last}`;
      const places = (await this.link.script(LIST_TASKS, keys.slice(0, 2), [from, wanted])) as string[];
      const tasks = await Promise.all(places.map((place) => this.read(place.slice(DIGITS))));
      // some may have expired meanwhile
      found.push(...tasks.filter((task) => task !== undefined));
      if (places.length < wanted || found.length === limit) return found;
      last = places.at(-1);
    }
  }

  async openTasks(): Promise<readonly OpenTask[]> {
    const [, , , , ...keys] = this.keysOf('', '');
    const entries = (await this.link.script(OPEN_TASKS, keys, [])) as string[];
    const ids = new Map<string, string>();
    const open: OpenTask[] = [];
    for (let at = 0; at < entries.length; at += 2) {
      const [digest = '', entry = ''] = entries.slice(at, at + 2);
      const space = entry.indexOf(' ');
      const sealed = entry.slice(0, space);
      const id = this.ids.get(sealed) ?? this.headOf(digest, sealed)?.id;
      if (id === undefined) continue;
      ids.set(sealed, id);
      open.push({ id, holder: (JSON.parse(entry.slice(space + 1)) as string | null) ?? undefined });
    }
    this.ids = ids;
    return open;
  }

  async count(owner: string): Promise<TaskCounts> {
    const [, , own = '', every = ''] = this.keysOf('', digestOf(owner));
    const [all = 0, mine = 0] = (await this.link.script(COUNT_TASKS, [every, own], [])) as number[];
    return { all, own: mine };
  }

  async beat(process: string, ttlMs: number): Promise<void> {
    const key = this.key('process', digestOf(process));
    // a Redis whose memory is full still does this, but refuses `SET`
    if ((await this.link.run((client) => client.pexpire(key, ttlMs))) === 1) return;
    await this.link.run((client) => client.set(key, 1, 'PX', ttlMs));
  }

  async lives(process: string): Promise<boolean> {
    return (await this.link.run((client) => client.exists(this.key('process', digestOf(process))))) === 1;
  }

  async end(process: string): Promise<void> {
    await this.link.run((client) => client.del(this.key('process', digestOf(process))));
  }

  private async read(digest: string): Promise<StoredTask | undefined> {
    const [version, facts = '', sealed = '', text = ''] = await this.fieldsOf(digest, ['v', 'f', 'h', 't']);
    const head = version === undefined ? undefined : this.headOf(digest, sealed);
    if (head === undefined) return undefined;
    const { isOpen, createdAt, expiresAt, holder } = JSON.parse(facts) as Facts;
    return { ...head, version: Number(version), isOpen, createdAt, expiresAt, holder, text };
  }

  /** Reads fields of a task; an empty array if there is none. */
  private async fieldsOf(digest: string, names: readonly string[]): Promise<string[]> {
    const found = await this.link.run((client) => client.hmget(this.key('task', digest), ...names));
    return found.filter((text) => typeof text === 'string');
  }

  private headOf(digest: string, sealed: string): Head | undefined {
    const json = this.link.unseal(sealed, bindingOf(digest));
    return json === undefined ? undefined : (JSON.parse(json) as Head);
  }

  /** The keys of `SET_TASK`. */
  private keysOf(digest: string, owner: string): string[] {
    return [
      this.key('task', digest),
      this.key('ages', owner),
      this.key('ends', owner),
      this.key('all'),
      this.key('open'),
      this.key('open-ends'),
    ];
  }

  private key(part: string, digest = ''): string {
    return this.link.key('t', `{${this.link.prefix}}${part}:${digest}`);
  }
}

const bindingOf = (digest: string): string => `task ${digest}`;
