import { PassThrough } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { Host } from '../src/prices/host.js';
import { type Kind, KINDS } from '../src/prices/kinds.js';
import { Scales } from '../src/prices/measure.js';
import { excess } from '../src/prices/table.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const ends: { readonly toServer: PassThrough; readonly toClient: PassThrough }[] = [];
const host = new Host(() => {
  const pair = { toServer: new PassThrough(), toClient: new PassThrough() };
  ends.push(pair);
  return { input: pair.toServer, output: pair.toClient };
}, collect);

/** The client's end of a pipe. */
function pipe(index: number) {
  const { toServer, toClient } = ends[index]!;
  return Object.assign(toClient, { write: toServer.write.bind(toServer) });
}

let scales: Scales;
beforeAll(async () => {
  scales = await Scales.open({ ask: (question) => host.answer(question), pipe });
});
afterAll(async () => {
  scales.close();
  await host.close();
});

/** Short, but longer than the cost of measuring. CPU time only, so other processes don't matter. */
const EFFORT = { micros: 1500, repeats: 2, sent: 0 };
/** For what seems too dear: in a short look, cold code or a collection of garbage may cost more than the message. */
const MORE_EFFORT = { micros: 25_000, repeats: 4, sent: 0 };
/** Bytes per way of sending a kind, when looking at the memory. */
const SENT = 4 * 1024;

/** Each kind in one of its eras, over both transports. `npm run prices` measures all of them. */
const sampled: readonly Kind[] = KINDS.map((kind, index) => {
  const { eras = [] } = kind;
  return eras.length < 2 ? kind : { ...kind, eras: [eras[index % eras.length]!] };
});

describe('the price list', () => {
  test('has every way of being wrong', () => {
    expect(KINDS.length).toBeGreaterThan(50);
    expect(new Set(KINDS.map(({ name }) => name)).size).toBe(KINDS.length);
  });

  test.each(sampled.map((kind) => [kind.name, kind] as const))(
    '%s: costs no more than its price',
    async (_name, kind) => {
      const excessOf = async (effort: typeof EFFORT) => {
        const measured = await scales.measure(kind, effort);
        expect(measured.length).toBeGreaterThan(0);
        return measured.flatMap((each) => excess(each) ?? []);
      };
      if ((await excessOf(EFFORT)).length > 0) expect(await excessOf(MORE_EFFORT)).toEqual([]);
    },
  );

  test('messages of all kinds keep no more memory than their prices say', async () => {
    const { grown, allowed } = await scales.keptOf(sampled, SENT);
    expect(grown).toBeLessThanOrEqual(allowed);
  });
});
