import { connectMemory } from '@decorum/core';
import { redis } from '@decorum/redis';

import { type Mistakes, serverOf, untyped, wrong } from './table.js';

const URL_OF_REDIS = 'redis://127.0.0.1:1';
const WRITE = "Write redis('redis://localhost:6379')";
const NO_URL = `redis: \`target\` is not a URL that begins with "redis://" or "rediss://". ${WRITE}`;

const limits = (options: unknown) => untyped(redis(URL_OF_REDIS).limits.bind(redis(URL_OF_REDIS)))(options);

/** Mistakes in what `redis` is given. */
export const REDIS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...wrong('redis(…)', (target) => untyped(redis)(target), [
      [['localhost:6379', 'http://localhost:6379', 'cache', ''], NO_URL],
      [[undefined], `redis: \`target\` is missing. ${WRITE}, or pass options or a client of ioredis`],
      [[6379], `redis: \`target\` is a number. ${WRITE}, or pass options or a client of ioredis`],
      [
        [{ sendCommand() {}, isOpen: false }],
        `redis: \`target\` is a client of another library. ${WRITE}, or pass a client of ioredis`,
      ],
    ]),
    ...wrong(`redis('${URL_OF_REDIS}', …)`, (options) => untyped(redis)(URL_OF_REDIS, options), [
      [[{ prefx: 'shop:' }], 'redis: `prefx` is not an option. Write `prefix`'],
      [[{ prefix: '' }], 'redis: `prefix` is empty. Leave it out, or write one such as "shop:"'],
      [[{ prefix: 1 }], 'redis: `prefix` is 1, but must be a string'],
      [[{ timeoutMs: 0 }], 'redis: `timeoutMs` is 0, but must be a whole number from 1 to 2147483647'],
      [[{ maxBytes: 1 }], 'redis: `maxBytes` is not an option. Write `events: { maxBytes }`'],
      [
        [{ events: { maxEvents: -1 } }],
        'redis.events: `maxEvents` is -1, but must be a whole number from 1 to 9007199254740991',
      ],
    ]),
    ...wrong('redis(…).limits(…)', limits, [
      [[{ points: 5 }], 'limits: `duration` is missing. Write `limits({ points: 60, duration: 60 })`'],
      [[{ points: 5, duration: 0 }], 'limits: `duration` is 0, but must be a whole number from 1 to 2147483647'],
      [[{ points: '5', duration: 1 }], 'limits: `points` is "5", but must be a whole number from 1 to 2147483647'],
    ]),
    [
      'one redis(…) for two servers',
      async () => {
        const cluster = redis(URL_OF_REDIS);
        const secret = 's'.repeat(32);
        const [first, second] = [serverOf([], { cluster, secret }), serverOf([], { cluster, secret })];
        try {
          for (const each of [first, second]) await connectMemory(each, { receive() {} });
        } finally {
          await Promise.all([first.close(), second.close()]);
        }
      },
      'McpServer: `cluster` serves another server already, "test". Call redis(…) once for each server',
    ],
  ],
};
