// The contract of AuthStore. Run it against your own implementation.
import { describe, expect, it } from '@jest/globals';
import type { AuthStore } from '@decorum/auth-server';

/** The clock of the stores under test. */
export interface TestClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Moves the clock forward by some milliseconds. */
  pass(ms: number): void | Promise<void>;
}

/** Records in a stable order. */
const sorted = <T extends { readonly key: string }>(records: readonly T[]) =>
  records.toSorted((one, other) => (one.key < other.key ? -1 : 1));

/**
 * Registers the tests that any `AuthStore` must pass.
 * @param create creates an empty store and opens it
 */
export function describeAuthStore(name: string, create: () => Promise<AuthStore>, clock: TestClock): void {
  describe(`${name} as an AuthStore`, () => {
    it('returns what was written, and nothing for other keys', async () => {
      const store = await create();
      expect(await store.write([{ key: 'grant:a', value: 'one' }])).toBe(true);
      expect(await store.get('grant:a')).toBe('one');
      for (const key of ['grant:b', 'grant:', 'grant', 'grant:a ', 'a', '__proto__', 'constructor', ''])
        expect(await store.get(key)).toBeUndefined();
    });

    it('replaces and deletes records', async () => {
      const store = await create();
      await store.write([{ key: 'grant:a', value: 'one' }]);
      await store.write([{ key: 'grant:a', value: 'two' }]);
      expect(await store.get('grant:a')).toBe('two');
      await store.write([
        { key: 'grant:a', value: undefined },
        { key: 'grant:never', value: undefined },
      ]);
      expect(await store.get('grant:a')).toBeUndefined();
      expect(await store.list('grant')).toEqual([]);
    });

    it('makes all changes of a write or none', async () => {
      const store = await create();
      await store.write([{ key: 'grant:a', value: 'one' }]);
      const changes = [
        { key: 'grant:b', value: 'new' },
        { key: 'grant:a', value: 'two', expected: 'zero' },
        { key: 'grant:c', value: 'new' },
      ];
      expect(await store.write(changes)).toBe(false);
      expect(await store.list('grant')).toEqual([{ key: 'grant:a', value: 'one' }]);
      expect(await store.write(changes.map((change) => ({ ...change, expected: undefined })))).toBe(true);
      expect(await store.list('grant')).toHaveLength(3);
    });

    it('compares records with their expected values, where null means none', async () => {
      const store = await create();
      const write = async (value: string | undefined, expected: string | null) =>
        await store.write([{ key: 'grant:a', value, expected }]);
      expect(await write('one', '')).toBe(false);
      expect(await write('one', null)).toBe(true);
      expect(await write('two', null)).toBe(false);
      expect(await write('two', 'one')).toBe(true);
      expect(await write(undefined, 'one')).toBe(false);
      expect(await write(undefined, 'two')).toBe(true);
      // an empty value is a value
      expect(await write('', null)).toBe(true);
      expect(await write('three', null)).toBe(false);
      expect(await store.get('grant:a')).toBe('');
      // a record may be expected without being changed otherwise
      expect(await write('', '')).toBe(true);
    });

    it('lets exactly one of several conflicting writes win', async () => {
      const store = await create();
      await store.write([{ key: 'grant:a', value: 'start' }]);
      const made = await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          return await store.write([
            { key: 'grant:a', value: `winner ${n}`, expected: 'start' },
            { key: `code:${n}`, value: 'used', expected: null },
          ]);
        }),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      const winner = made.indexOf(true);
      expect(await store.get('grant:a')).toBe(`winner ${winner}`);
      expect(await store.list('code')).toEqual([{ key: `code:${winner}`, value: 'used' }]);
    });

    it('makes concurrent writes in order, each seeing those before it', async () => {
      const store = await create();
      const steps = Array.from({ length: 20 }, (_, n) => n);
      const made = await Promise.all(
        steps.map((n) => store.write([{ key: 'grant:a', value: `${n}`, expected: n === 0 ? null : `${n - 1}` }])),
      );
      expect(made).toEqual(steps.map(() => true));
      expect(await store.get('grant:a')).toBe('19');
    });

    it('counts an expired record as missing', async () => {
      const store = await create();
      const expiresAt = clock.now() + 1000;
      await store.write([
        { key: 'code:short', value: 'one', expiresAt },
        { key: 'code:long', value: 'two', expiresAt: expiresAt + 1000 },
        { key: 'code:endless', value: 'three' },
        { key: 'code:over', value: 'four', expiresAt: clock.now() },
      ]);
      expect(await store.get('code:over')).toBeUndefined();
      await clock.pass(999);
      expect(await store.get('code:short')).toBe('one');
      await clock.pass(1);
      expect(await store.get('code:short')).toBeUndefined();
      expect(sorted(await store.list('code')).map(({ key }) => key)).toEqual(['code:endless', 'code:long']);
      expect(await store.write([{ key: 'code:short', value: 'new', expected: 'one' }])).toBe(false);
      expect(await store.write([{ key: 'code:short', value: 'new', expected: null }])).toBe(true);
      // the new record doesn't inherit the expiry of the old one
      await clock.pass(3_600_000);
      expect(await store.get('code:short')).toBe('new');
      expect(await store.get('code:long')).toBeUndefined();
    });

    it('takes the expiry of the latest write', async () => {
      const store = await create();
      await store.write([{ key: 'code:a', value: 'one', expiresAt: clock.now() + 1000 }]);
      await store.write([{ key: 'code:a', value: 'one', expiresAt: clock.now() + 5000 }]);
      await clock.pass(4999);
      expect(await store.get('code:a')).toBe('one');
      await clock.pass(1);
      expect(await store.get('code:a')).toBeUndefined();
    });

    it('lists the records of one kind, also if others begin with the same letters', async () => {
      const store = await create();
      const keys = ['key:a', 'keys:a', 'key:b:c', 'key-old:a', 'ke:y:a', 'client:key:a'];
      await store.write(keys.map((key) => ({ key, value: key })));
      const listed = async (kind: string) => sorted(await store.list(kind)).map(({ key }) => key);
      expect(await listed('key')).toEqual(['key:a', 'key:b:c']);
      expect(await listed('keys')).toEqual(['keys:a']);
      expect(await listed('ke')).toEqual(['ke:y:a']);
      for (const kind of ['k', 'a', '', 'key:b', '__proto__']) expect(await listed(kind)).toEqual([]);
    });

    it('keeps keys and values of any Unicode, and of any length', async () => {
      const store = await create();
      const values = [
        '',
        ' \t\r\n\u0000',
        '{"json":[1]}\n[["grant:x","y",null]]\n',
        'ümlaut 日本 🎉 \u2028\u2029\uFEFF',
        'lone \uD83D surrogate \uDE00',
        'x'.repeat(300_000),
      ];
      const written = values.map((value, n) => ({ key: `grant:${n} é\n"🎉`, value }));
      await store.write(written);
      for (const { key, value } of written) expect(await store.get(key)).toBe(value);
      expect(sorted(await store.list('grant'))).toEqual(written);
    });

    it('keeps 1,000 records, written one by one and at once', async () => {
      const store = await create();
      const numbers = Array.from({ length: 500 }, (_, n) => n);
      const record = (kind: string) => (n: number) => ({ key: `${kind}:${n}`, value: `value ${n}` });
      await Promise.all(numbers.map((n) => store.write([record('client')(n)])));
      await store.write(numbers.map(record('grant')));
      for (const kind of ['client', 'grant'])
        expect(sorted(await store.list(kind))).toEqual(sorted(numbers.map(record(kind))));
    });
  });
}
