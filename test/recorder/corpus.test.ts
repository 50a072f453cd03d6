import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { recorder, type Recording } from '@decorum/audit';
import { connect, elicits, type Replay, replayOf, type Via } from '@decorum/testing';
import { afterAll, describe, expect, it } from '@jest/globals';

import { CORPUS, type Failing, SERVERS } from './corpus.js';

/** Calls that don't fail again as they did, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'a server that closes': 'the server of the replay does not close',
  'a tool for admins': 'the claim that opens the tool is not among those that are recorded',
};

/** Calls that don't fail at the server in the newest revision: the client doesn't send its error, or asks its user again. */
const UNRECORDED = [
  'a client that fails to ask',
  'an answer that does not fit',
  'everything: a model that refuses',
  'everything: a form that does not fit',
].map((title) => `2026-07-28 ${title}`);

const VIAS: readonly Via[] = ['memory', 'stdio', 'http'];

const folders: string[] = [];
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true, force: true });
});

function folder(): string {
  const created = mkdtempSync(join(tmpdir(), 'recordings-'));
  folders.push(created);
  return created;
}

/** Makes a call over a transport, and returns the files of its recordings. */
async function record({ server: name, call, client }: Failing, how: { revision: string; via: Via }) {
  const recordings = folder();
  const server = await SERVERS[name]([recorder({ folder: recordings })], folder());
  const connected = await connect(server as never, { ...client, ...how });
  await call(connected).catch(() => {});
  await server.close({ deadlineMs: 0 });
  await connected.close().catch(() => {});
  return readdirSync(recordings).map((each) => join(recordings, each));
}

async function replayed(file: string, { server: name }: Failing): Promise<Replay> {
  const server = await SERVERS[name]([], folder());
  try {
    return await replayOf(file, { server: server as never, timeoutMs: 2000 });
  } finally {
    await server.close({ deadlineMs: 0 });
  }
}

interface Result {
  readonly title: string;
  readonly differences: readonly string[];
  readonly outcome: Recording['outcome'];
}

const results: Result[] = [];
const unrecorded: string[] = [];
const calls = Object.entries(CORPUS).map(([title, failing], at) => [title, failing, VIAS[at % 3] as Via] as const);

describe.each(['2025-03-26', '2025-11-25', '2026-07-28'])('a call that was recorded in %s', (revision) => {
  it.each(calls)('fails again with the same cause: %s', async (title, failing, via) => {
    const files = await record(failing, { revision, via });
    if (files.length === 0) return void unrecorded.push(`${revision} ${title}`);
    expect(files).toHaveLength(1);
    const [file] = files as [string];
    const { differences } = await replayed(file, failing);
    const { outcome } = JSON.parse(readFileSync(file, 'utf8')) as Recording;
    results.push({ title, differences, outcome });
    if (!(title in EXCEPTIONS)) expect(differences).toEqual([]);
  });
});

describe('a call of somebody unknown over HTTP', () => {
  it.each([
    ['2025-11-25', 'bug'],
    ['2026-07-28', 'denied'],
  ])('has a session in its replay if it had one: %s', async (revision, cause) => {
    const failing: Failing = { server: 'faults', call: (client) => client.callTool('forgetful') };
    const [file] = (await record(failing, { revision, via: 'http' })) as [string];
    expect(await replayed(file, failing)).toMatchObject({ recorded: { cause }, differences: [] });
  });
});

describe('a caller whose token has an empty text for its scopes', () => {
  it('has none in the replay either', async () => {
    const client = { principal: { subject: 'bob', scopes: [] } };
    const failing: Failing = { server: 'faults', call: (each) => each.callTool('sold_out'), client };
    const [file] = (await record(failing, { revision: '2025-11-25', via: 'memory' })) as [string];
    const recording = JSON.parse(readFileSync(file, 'utf8')) as Recording;
    // as endpoints over HTTP accept it
    writeFileSync(file, JSON.stringify({ ...recording, principal: { ...recording.principal, scopes: ''.split(' ') } }));
    expect(await replayed(file, failing)).toMatchObject({ failure: 'expected: Sold out', differences: [] });
  });
});

describe('a question that a recording has no answer to', () => {
  it('is named, and the call does not wait for it', async () => {
    const failing: Failing = { server: 'faults', call: (client) => client.callTool('confirm') };
    const client = { onElicit: elicits('decline') };
    const [file] = (await record({ ...failing, client }, { revision: '2026-07-28', via: 'memory' })) as [string];
    const { asked: _, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as Recording;
    writeFileSync(file, JSON.stringify(rest));
    const { failure, differences } = await replayed(file, failing);
    expect(failure).toBe('cancelled: The call waits for an answer that the recording does not have.');
    expect(differences).toContain('question: "Sure?" has no answer in the recording');
  });
});

describe('the calls that were recorded', () => {
  it('are all, but for those of clients that say nothing', () => {
    expect(unrecorded).toEqual(UNRECORDED);
    expect(results.length).toBeGreaterThan(230);
  });

  it('differ in a replay only where that is listed', () => {
    const different = results.filter(({ differences }) => differences.length > 0).map(({ title }) => title);
    expect([...new Set(different)].sort()).toEqual(Object.keys(EXCEPTIONS).sort());
  });

  it('have failed in every way', () => {
    const causes = new Set(results.map(({ outcome }) => outcome.cause));
    expect([...causes].sort()).toEqual([
      'bug',
      'cancelled',
      'client',
      'closing',
      'denied',
      'expected',
      'invalid-arguments',
      'limit',
      'not-found',
      'timeout',
    ]);
  });
});
