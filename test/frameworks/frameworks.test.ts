import { afterAll, beforeAll, describe, it } from '@jest/globals';

import { type Hosted, HOSTS, MORE_HOSTS } from './hosts.js';
import { NEST_HOSTS } from './nest-hosts.js';
import { CLIENTS, sendLargeBodies, useWeather } from './weather.js';

describe.each(Object.entries({ ...HOSTS, ...NEST_HOSTS }))('the weather server in %s', (_name, serve) => {
  let hosted: Hosted;

  beforeAll(async () => {
    hosted = await serve();
  });

  afterAll(async () => {
    await hosted.close();
  });

  it.each(CLIENTS)('serves the official client of %s, and delays no progress', async (_client, connect) => {
    await useWeather(connect, hosted.url);
  });

  it('serves a body of a mebibyte, and rejects one over the limit with 413 as JSON-RPC', async () => {
    await sendLargeBodies(hosted.url);
  });
});

describe.each(Object.entries(MORE_HOSTS))('the weather server in %s', (_name, serve) => {
  it('serves the newest session client, a stateless client, and large bodies', async () => {
    const hosted = await serve();
    try {
      for (const [, connect] of CLIENTS.slice(-3)) await useWeather(connect, hosted.url);
      await sendLargeBodies(hosted.url);
    } finally {
      await hosted.close();
    }
  });
});
