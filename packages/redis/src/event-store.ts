import { type EventBatch, type EventStore, eventsOf, type StoredEvent } from '@decorum/http';

import type { Link } from './link.js';
import { Script } from './script.js';

/**
 * Appends an entry, unless its stream has its position or a later one. Each entry has the bytes of the stream so far, so
 * the bytes that are kept are the difference between the newest and the oldest one.
 */
const APPEND = new Script(`
local key, first, last, text = KEYS[1], tonumber(ARGV[1]), ARGV[2], ARGV[3]
local newest = redis.call('XREVRANGE', key, '+', '-', 'COUNT', 1)[1]
local total = #text
if newest then
  if tonumber(string.match(newest[1], '^%d+')) >= first then return 0 end
  total = total + tonumber(newest[2][2])
end
redis.call('XADD', key, 'MINID', '=', math.max(0, last + 1 - ARGV[4]), last .. '-0', 'b', total, 'e', text)
redis.call('PEXPIRE', key, ARGV[6])
local max = tonumber(ARGV[5])
while total > max do
  local oldest = redis.call('XRANGE', key, '-', '+', 'COUNT', 1)[1]
  local before = tonumber(oldest[2][2]) - #oldest[2][4]
  if total - before <= max or oldest[1] == last .. '-0' then break end
  redis.call('XTRIM', key, 'MINID', '=', string.match(oldest[1], '^%d+') .. '-1')
end
return 1`);

/** The highest limit that Redis takes from a number of JavaScript. */
const MAX_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Stores the events of streams: a Redis stream for each, with an entry for each batch. The number of an entry is the
 * position of its last event, plus 1, because 0 isn't allowed.
 */
export class RedisEventStore implements EventStore {
  constructor(private readonly link: Link) {}

  append(key: string, { sequence, frame }: StoredEvent): Promise<boolean> {
    return this.store(key, sequence, [frame]);
  }

  appendBatch(key: string, batch: EventBatch): Promise<boolean> {
    const frames = eventsOf(batch).map(({ frame }) => frame);
    return this.store(key, batch.first, frames);
  }

  async read(key: string, after: number, limit = MAX_LIMIT): Promise<readonly StoredEvent[] | undefined> {
    const name = this.keyOf(key);
    const entries = await this.link.run((client) =>
      client.xrange(name, `${after + 2}-0`, '+', 'COUNT', Math.min(limit, MAX_LIMIT)),
    );
    if (entries.length > 0) return entries.flatMap((entry) => this.eventsIn(key, entry)).filter(isAfter(after));
    return (await this.link.run((client) => client.exists(name))) === 1 ? [] : undefined;
  }

  private async store(key: string, first: number, frames: readonly string[]): Promise<boolean> {
    if (frames.length === 0) return true;
    const last = first + frames.length;
    const { maxEvents, maxBytes, maxAgeMs } = this.link.settings.events;
    // a line each, because a JSON-RPC message has no line breaks
    const sealed = this.link.seal(frames.join('\n'), bindingOf(key, last));
    const limits = [maxEvents, maxBytes, maxAgeMs];
    return (await this.link.script(APPEND, [this.keyOf(key)], [first + 1, last, sealed, ...limits])) === 1;
  }

  private eventsIn(key: string, [id, fields]: readonly [string, readonly string[]]): StoredEvent[] {
    const last = Number.parseInt(id, 10);
    const frames = this.link.unseal(fields[3] ?? '', bindingOf(key, last))?.split('\n') ?? [];
    return frames.map((frame, index) => ({ sequence: last - frames.length + index, frame }));
  }

  private keyOf(key: string): string {
    return this.link.secretKey('e', key);
  }
}

const bindingOf = (key: string, last: number): string => `events ${key} ${last}`;

const isAfter =
  (position: number) =>
  ({ sequence }: StoredEvent): boolean =>
    sequence > position;
