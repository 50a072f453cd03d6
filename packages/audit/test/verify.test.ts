import { writeFileSync } from 'node:fs';

import { verifyAudit } from '@decorum/audit';
import { connect } from '@decorum/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { Folder, KEY, Lines, shop } from './shop.js';

const LINES = 12;
const folder = new Folder();
let lines: readonly string[];

beforeAll(async () => {
  const log = new Lines();
  const client = await connect(shop({ ...log.options, redact: (args) => args }));
  for (let at = 0; at < LINES; at += 1) await client.callTool('buy', { sku: `täe ${at}` });
  await client.close();
  lines = log.all;
});
afterAll(() => folder.remove());

/** Writes lines to some files, and verifies them. */
async function verify(files: readonly (string | Uint8Array)[], more: Parameters<typeof verifyAudit>[1] = {}) {
  const paths = files.map((text, at) => {
    const path = folder.file(`${at}.log`);
    writeFileSync(path, text);
    return path;
  });
  return await verifyAudit(paths, { key: KEY, ...more });
}

const text = (all: readonly string[]) => all.map((line) => `${line}\n`).join('');

/** The problems found, by line. */
const found = async (...args: Parameters<typeof verify>) =>
  (await verify(...args)).findings.map(({ line, problem }) => `${line} ${problem}`);

const index = fc.nat({ max: LINES - 1 });
const property = async (check: fc.IAsyncProperty<never>) => await fc.assert(check, { numRuns: 300 });

describe('A log', () => {
  it('is as it was written, in any number of files', async () => {
    const { findings, torn, last, foreign } = await verify([text(lines.slice(0, 5)), '', text(lines.slice(5))]);
    expect({ findings, torn, foreign }).toEqual({ findings: [], torn: [], foreign: 0 });
    expect(lines.at(-1)).toContain(`"mac":"${last}"`);
  });

  it('may be empty', async () => {
    expect(await verify([''])).toEqual({ lines: 0, foreign: 0, findings: [], torn: [], last: undefined });
  });

  it('tells of any changed byte, and names its line', async () => {
    const bytes = Buffer.from(text(lines));
    const changes = fc.tuple(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }));
    await property(
      fc.asyncProperty(changes, async ([at, change]) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] as number) ^ change;
        const line = bytes.subarray(0, at).filter((byte) => byte === 0x0a).length + 1;
        // two lines, if a line break was made of a byte
        expect((await verify([changed])).findings[0]?.line).toBe(line);
      }) as never,
    );
  });

  it('tells of any removed line but the last, and names the one behind it', async () => {
    await property(
      fc.asyncProperty(fc.nat({ max: LINES - 2 }), async (at) => {
        expect(await found([text(lines.filter((_line, each) => each !== at))])).toEqual([`${at + 1} changed`]);
      }) as never,
    );
  });

  it('tells of any inserted line, and names it', async () => {
    const forged = (line: string) => line.replace('"ok"', '"error"');
    const inserted = fc.oneof(
      index.map((at) => lines[at] as string),
      index.map((at) => forged(lines[at] as string)),
      fc.constantFrom('', '{"at":"2026', 'x', '{}', '{"at":"","mac":""}', `{"at":"","mac":"${'A'.repeat(43)}"}`),
    );
    await property(
      fc.asyncProperty(fc.nat({ max: LINES }), inserted, async (at, line) => {
        // the beginning of a chain is found out by what it says, in any place but the first
        const { findings } = await verify([text([...lines.slice(0, at), line, ...lines.slice(at)])]);
        const places = findings.map((finding) => finding.line);
        // of two equal lines, either one is the copy
        expect(line === lines[at - 1] || line === lines[at] ? [at, at + 1, at + 2] : [at + 1]).toContain(places[0]);
      }) as never,
    );
  });

  it('tells of any two lines that were swapped, and names the first', async () => {
    await property(
      fc.asyncProperty(index, index, async (one, other) => {
        fc.pre(one !== other);
        const swapped = [...lines];
        [swapped[one], swapped[other]] = [lines[other] as string, lines[one] as string];
        expect((await verify([text(swapped)])).findings[0]?.line).toBe(Math.min(one, other) + 1);
      }) as never,
    );
  });

  it('tells of lines that were removed between two files, and of files in another order', async () => {
    expect(await found([text(lines.slice(0, 4)), text(lines.slice(5))])).toEqual(['1 changed']);
    expect(await found([text(lines.slice(6)), text(lines.slice(0, 6))])).toEqual(['1 changed', '1 restarted']);
  });

  it('says of a line that it was inserted, if the next one continues the line before it', async () => {
    const copy = lines[8] as string;
    expect(await found([text([...lines.slice(0, 3), copy, ...lines.slice(3)])])).toEqual(['4 inserted']);
    expect(await found([text([...lines.slice(0, 3), 'x', ...lines.slice(3)])])).toEqual(['4 inserted']);
  });

  it('is foreign with another key, and fits any key of a list', async () => {
    const other = 'another secret that is long enough';
    expect(await verify([text(lines)], { key: other })).toMatchObject({ lines: LINES, foreign: LINES });
    expect(await found([text(lines)], { key: [other, KEY] })).toEqual([]);
  });

  it('is not one of which too much is something else', async () => {
    await expect(verify([text(lines), '\n'.repeat(200_000)])).rejects.toThrow('is no line of an audit log');
  });

  it('tells of lines with an old key after lines with a newer one', async () => {
    const keys = ['another secret that is long enough', KEY] as const;
    const log = new Lines();
    for (const key of [keys[1], keys[0], keys[1]]) {
      const after = log.parsed.at(-1)?.mac;
      const client = await connect(shop({ ...log.options, key, ...(after !== undefined && { after }) }));
      await client.callTool('buy', { sku: 'tea' });
      await client.close();
    }
    expect(await found([text(log.all)], { key: keys })).toEqual(['3 older-key']);
    expect(await found([text(log.all.slice(0, 2))], { key: keys })).toEqual([]);
  });

  it('goes on after files that are elsewhere, if the MAC before it is known', async () => {
    const [before, rest] = [lines[3] as string, text(lines.slice(4))];
    expect(await found([rest])).toEqual(['1 changed']);
    expect(await found([rest], { after: (JSON.parse(before) as { mac: string }).mac })).toEqual([]);
  });

  it('tells of lines that were removed from its end only if a MAC from then is known', async () => {
    const cut = text(lines.slice(0, 7));
    const { last: seen } = await verify([text(lines)]);
    expect(await found([cut])).toEqual([]);
    expect(await found([cut], { seen: seen as string })).toEqual(['7 missing']);
    expect(await found([text(lines)], { seen: seen as string })).toEqual([]);
    expect(await found([''], { seen: seen as string })).toEqual(['1 missing']);
  });
});

describe('A line that was never finished', () => {
  it('is told of as such at the end of the log, whatever its length', async () => {
    const half = Buffer.from(lines[7] as string);
    for (let length = 1; length < half.length; length += 1) {
      const { findings, torn } = await verify([text(lines.slice(0, 7)), half.subarray(0, length)]);
      expect({ length, findings, torn }).toEqual({
        length,
        findings: [],
        torn: [{ file: folder.file('1.log'), line: 1 }],
      });
    }
  });
});
