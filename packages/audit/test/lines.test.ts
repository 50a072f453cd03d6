import { createHash } from 'node:crypto';

import { oauth } from '@decorum/auth';
import { listen } from '@decorum/http';
import { connect, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { type Line, Lines, shop } from './shop.js';

const DIGEST = expect.stringMatching(/^[\w-]{43}$/);

/** What tells how a call ended. */
const ends = (lines: readonly Line[]) => lines.map(({ member, outcome, cause }) => [member?.name, outcome, cause]);

const ended = (promise: Promise<unknown>) => promise.catch(() => undefined);

describe.each(revisions)('an audited call, in %s', (revision) => {
  it('is one line, which has a digest in place of the arguments', async () => {
    const lines = new Lines();
    const client = await connect(shop(lines.options), { revision });
    await client.callTool('buy', { sku: 'a very private sku' });
    await client.listTools();
    await client.close();
    expect(lines.parsed).toEqual([
      {
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        caller: { transport: 'memory' },
        member: { kind: 'tool', name: 'buy' },
        args: DIGEST,
        outcome: 'ok',
        cause: null,
        ref: null,
        mac: DIGEST,
      },
    ]);
    expect(Object.keys(lines.parsed[0] as object).join()).toBe('at,caller,member,args,outcome,cause,ref,mac');
    expect(lines.all.join('')).not.toContain('private');
  });

  it('says how it ended, also if nothing ran', async () => {
    const lines = new Lines();
    const client = await connect(shop(lines.options), { revision });
    await client.callTool('refuse');
    await ended(client.callTool('buy', { sku: 7 }));
    await ended(client.callTool('secret'));
    await ended(client.callTool('nothing', { sku: 'x' }));
    await client.getPrompt('praise', { sku: 'tea' });
    await client.readResource('shop://tea');
    await ended(client.readResource('other://tea'));
    await client.close();
    expect(ends(lines.parsed)).toEqual([
      ['refuse', 'tool-error', 'expected'],
      ['buy', expect.stringMatching('error'), 'invalid-arguments'],
      ['secret', 'error', 'denied'],
      [null, 'error', 'not-found'],
      ['praise', 'ok', null],
      ['shop://{sku}', 'ok', null],
      [null, 'error', 'not-found'],
    ]);
    expect(lines.parsed.map(({ member }) => member?.kind).join()).toBe('tool,tool,tool,tool,prompt,resource,resource');
  });

  it('has the reference of a masked error, and nothing of the error', async () => {
    const lines = new Lines();
    const client = await connect(shop(lines.options), { revision });
    const result = JSON.stringify(await client.callTool('fail'));
    await client.close();
    const [line] = lines.parsed;
    expect([line?.outcome, line?.cause]).toEqual(['tool-error', 'bug']);
    expect(result).toContain(`(reference ${line?.ref})`);
    expect(lines.all.join('')).not.toContain('hunter2');
  });
});

describe('Arguments', () => {
  it('have equal digests if they are equal, whatever the order of their fields', async () => {
    const lines = new Lines();
    const client = await connect(shop(lines.options));
    for (const args of [{ sku: 'a', n: { b: 1, c: [2, 3] } }, { n: { c: [2, 3], b: 1 }, sku: 'a' }, { sku: 'a' }])
      await ended(client.callTool('buy', args));
    await client.callTool('refuse', {});
    await client.callTool('refuse');
    await client.close();
    const [one, two, three, empty, none] = lines.parsed.map(({ args }) => args);
    expect([one === two, one === three, empty === none]).toEqual([true, false, true]);
  });

  it('can not be compared with those of other callers, nor with those of other members', async () => {
    const lines = new Lines();
    const server = shop(lines.options);
    for (const subject of ['ada', 'bob']) {
      const client = await connect(server, { principal: { subject, issuer: 'https://id.example' } as never });
      await client.callTool('buy', { sku: 'a' });
      await client.getPrompt('praise', { sku: 'a' });
      await client.callTool('buy', { sku: 'a' });
      await client.close();
    }
    const digests = lines.parsed.map(({ args }) => args);
    expect(digests.map((digest) => digests.indexOf(digest))).toEqual([0, 1, 0, 3, 4, 3]);
  });

  it('have other digests with another key', async () => {
    const digests = [];
    for (const key of ['one secret that is long enough for it', 'two secrets that are long enough, too']) {
      const lines = new Lines();
      const client = await connect(shop({ ...lines.options, key }));
      await client.callTool('buy', { sku: 'a' });
      await client.close();
      digests.push(lines.parsed[0]?.args);
    }
    expect(new Set(digests).size).toBe(2);
  });

  it('are in clear as far as redact returns them', async () => {
    const lines = new Lines();
    const seen: unknown[] = [];
    const redact = ({ sku, uri }: { sku?: unknown; uri?: unknown }, member: object) => {
      seen.push(member);
      return sku === undefined ? undefined : { sku, uri };
    };
    const client = await connect(shop({ ...lines.options, redact }));
    await client.callTool('buy', { sku: 'tea', card: '4000 0000' });
    await client.readResource('shop://tea');
    await client.close();
    expect(lines.parsed.map(({ args }) => args)).toEqual([
      { digest: DIGEST, kept: { sku: 'tea' } },
      { digest: DIGEST, kept: null },
    ]);
    expect(lines.all.join('')).not.toContain('4000');
    expect(seen).toEqual([
      { kind: 'tool', name: 'buy' },
      { kind: 'resource', name: 'shop://{sku}' },
    ]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['returns a promise', async () => ({ sku: 'tea' })],
    ['returns a promise that rejects', async () => await Promise.reject(new Error('broken'))],
    ['returns an array', () => ['tea'] as never],
    ['returns too much', () => ({ sku: 'x'.repeat(10_000) })],
  ])('are left out if redact %s, and it is told once', async (_how, redact) => {
    const lines = new Lines();
    const errors: unknown[] = [];
    const client = await connect(
      shop({ ...lines.options, redact: redact as never }, { onError: (error) => errors.push(error) }),
    );
    await client.callTool('buy', { sku: 'tea' });
    await client.callTool('buy', { sku: 'tea' });
    await client.close();
    expect(lines.parsed.map(({ args, outcome }) => [args, outcome])).toEqual(
      [1, 2].map(() => [{ digest: DIGEST, kept: null }, 'ok']),
    );
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('`redact` of `audit` failed') }),
    ]);
  });
});

describe('A caller', () => {
  it('is the principal, without the rest of its claims', async () => {
    const lines = new Lines();
    const principal = {
      subject: 'ada',
      issuer: 'https://id.example',
      clientId: 'cli',
      claims: { email: 'ada@x.example' },
    };
    const client = await connect(shop(lines.options), { principal });
    await client.callTool('refuse');
    await client.close();
    expect(lines.parsed[0]?.caller).toEqual({ issuer: 'https://id.example', subject: 'ada', clientId: 'cli' });
    expect(lines.all.join('')).not.toContain('email');
  });

  it('is a session without its id, or an address', async () => {
    const lines = new Lines();
    const server = await listen(shop(lines.options), { port: 0 });
    const client = await connect(server.url);
    await client.callTool('refuse');
    await client.callTool('refuse');
    await client.close();
    const stateless = await connect(server.url, { era: 'stateless' });
    await stateless.callTool('refuse');
    await stateless.close();
    await server.close();
    const [one, two, three] = lines.parsed.map(({ caller }) => caller);
    expect(one).toEqual({ session: expect.stringMatching(/^[\w-]{22}$/) });
    expect(two).toEqual(one);
    expect(three).toEqual({ address: expect.stringMatching(/127\.0\.0\.1|::1/) });
  });

  it('is never a key or a token', async () => {
    const lines = new Lines();
    const token = 'a-key-that-nobody-may-read-in-a-log';
    const auth = oauth({ apiKeys: { ada: { sha256: createHash('sha256').update(token).digest('hex') } } });
    const server = await listen(shop(lines.options), { port: 0, auth });
    const client = await connect(server.url, { headers: { authorization: `Bearer ${token}` } });
    await client.callTool('refuse');
    await client.close();
    await server.close();
    expect(lines.parsed[0]?.caller).toMatchObject({ subject: 'ada' });
    expect(lines.all.join('')).not.toContain(token);
  });
});

describe('A call', () => {
  it('that asks a client without a session is a line per round', async () => {
    const lines = new Lines();
    const onElicit = () => ({ action: 'accept' as const, content: { answer: true } });
    const client = await connect(shop(lines.options), { era: 'stateless', onElicit });
    await client.callTool('ask', { sku: 'tea' });
    await client.close();
    expect(ends(lines.parsed)).toEqual([
      ['ask', 'input-required', null],
      ['ask', 'ok', null],
    ]);
    const [one, two] = lines.parsed.map(({ args }) => args);
    expect(one).toBe(two);
  });

  it('that asks in a session is one line', async () => {
    const lines = new Lines();
    const onElicit = () => ({ action: 'accept' as const, content: { answer: true } });
    const client = await connect(shop(lines.options), { onElicit });
    await client.callTool('ask', { sku: 'tea' });
    await client.close();
    expect(ends(lines.parsed)).toEqual([['ask', 'ok', null]]);
  });

  it('that its client cancels is a line', async () => {
    const lines = new Lines();
    const client = await connect(shop(lines.options));
    const abort = new AbortController();
    const call = ended(client.callTool('wait', { sku: 'tea' }, { signal: abort.signal }));
    abort.abort();
    await call;
    await client.close();
    expect(ends(lines.parsed)).toEqual([['wait', 'cancelled', 'cancelled']]);
  });
});
