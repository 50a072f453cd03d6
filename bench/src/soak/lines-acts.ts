import type { Act } from './acts.js';
import type { LinesClient } from './lines-client.js';

/** Lines that get an error without an id. */
const REFUSED = [
  '{bad',
  '1',
  '"text"',
  '{"jsonrpc":"2.0"}',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
  'x'.repeat(5 * 1024 * 1024),
];

const garbage: Act<LinesClient> = {
  name: 'garbage',
  weight: 2,
  async run(client, random) {
    for (let left = random.int(1, 4); left > 0; left -= 1) {
      const expected = client.unaddressed + 1;
      client.write(`${random.pick(REFUSED)}\n`);
      await client.unaddressedError(expected);
    }
    client.write('\n\r\n');
    await client.result(client.stateless ? 'server/discover' : 'ping');
  },
};

/** The acts that only clients on pipes can do. */
export const LINES_ACTS: readonly Act<LinesClient>[] = [garbage];
