import { Script } from './script.js';

/**
 * What the scripts share. An index of expiries is a sorted set of tasks by the time at which they expire. `sweep` drops
 * the expired ones from it and from what belongs to it, and `bound` lets both expire with the last task.
 */
const SHARED = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function sweep(ends, others, remove)
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now)) do
    redis.call('ZREM', ends, member)
    if others then redis.call(remove, others, member) end
  end
end
local function expire(key, at)
  if at == 'inf' then redis.call('PERSIST', key) else redis.call('PEXPIREAT', key, at) end
end
local function bound(ends, others)
  local last = redis.call('ZRANGE', ends, -1, -1, 'WITHSCORES')[2]
  if not last then return end
  expire(ends, last)
  if others then expire(others, last) end
end
`;

/**
 * Stores a task, if the stored one has the version before it. A new version has the head of the first one.
 * KEYS: the task, its owner's tasks by age and by expiry, all tasks by expiry, the open ones, and these by expiry.
 * ARGV: the version before, the version, the expiry, the facts, the text, its place by age, its digest, that of its
 * owner, the head, and the holder in JSON if it is open.
 */
export const SET_TASK = new Script(`${SHARED}
local task, ages, ends, all, open, openEnds = unpack(KEYS)
local before, version, at, facts, text, place, digest, owner, head, holder = unpack(ARGV)
if (redis.call('HGET', task, 'v') or '0') ~= before then return 0 end
redis.call('HSET', task, 'v', version, 'f', facts, 't', text)
if version == '1' then redis.call('HSET', task, 'p', place, 'o', owner, 'h', head) end
expire(task, at)
redis.call('ZADD', ages, 0, place)
redis.call('ZADD', ends, at, place)
redis.call('ZADD', all, at, digest)
if holder ~= '' then
  redis.call('HSET', open, digest, redis.call('HGET', task, 'h') .. ' ' .. holder)
  redis.call('ZADD', openEnds, at, digest)
else
  redis.call('HDEL', open, digest)
  redis.call('ZREM', openEnds, digest)
end
bound(ends, ages)
bound(all)
bound(openEnds, open)
sweep(ends, ages, 'ZREM')
sweep(all)
sweep(openEnds, open, 'HDEL')
return 1`);

/** KEYS: as of `SET_TASK`. ARGV: the place of the task by age, and its digest. */
export const DELETE_TASK = new Script(`
local task, ages, ends, all, open, openEnds = unpack(KEYS)
redis.call('DEL', task)
redis.call('ZREM', ages, ARGV[1])
redis.call('ZREM', ends, ARGV[1])
redis.call('ZREM', all, ARGV[2])
redis.call('HDEL', open, ARGV[2])
redis.call('ZREM', openEnds, ARGV[2])
return 1`);

/** Lists places by age. KEYS: an owner's tasks by age and by expiry. ARGV: where to begin, and how many. */
export const LIST_TASKS = new Script(`${SHARED}
sweep(KEYS[2], KEYS[1], 'ZREM')
return redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], '+', 'LIMIT', 0, ARGV[2])`);

/** Returns all open tasks: digests, and heads with holders. KEYS: the open tasks, and these by expiry. */
export const OPEN_TASKS = new Script(`${SHARED}
sweep(KEYS[2], KEYS[1], 'HDEL')
return redis.call('HGETALL', KEYS[1])`);

/** Counts all tasks, and those of an owner. KEYS: both by expiry. */
export const COUNT_TASKS = new Script(`${SHARED}
return { redis.call('ZCOUNT', KEYS[1], '(' .. now, '+inf'), redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf') }`);
