import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { recorder, type RecorderOptions, type Recording } from '@decorum/audit';
import { type Context, McpError, McpServer, NoInput, ToolError } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recordings-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A server with tools that work and fail, and what it reports. */
function shop(options: Partial<RecorderOptions> = {}) {
  const errors: Error[] = [];
  const server = new McpServer({
    name: 'shop',
    version: '1.2.3',
    logger: { warn() {}, error() {} },
    onError: (error) => void errors.push(error as Error),
    plugins: [recorder({ folder, ...options })],
  });
  const add = (name: string, run: (ctx: Context) => unknown) =>
    server.addTool({ name, description: name, input: NoInput }, (_input, ctx) => run(ctx));
  add('works', () => 'done');
  add('fails', () => {
    throw new ToolError('Sold out');
  });
  add('breaks', () => {
    throw new McpError('internal-error', 'Closed');
  });
  return { server, errors };
}

/** Calls tools, and returns the recordings. */
async function call({ server }: ReturnType<typeof shop>, ...tools: readonly string[]): Promise<Recording[]> {
  const client = await connect(server);
  for (const tool of tools) await client.callTool(tool).catch(() => {});
  await client.close();
  await server.close();
  return recordings();
}

const recordings = (): Recording[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recording);

const namesOf = (kept: readonly Recording[]) => kept.map(({ member }) => member.name).sort();

describe('recorder', () => {
  it('keeps calls that failed: who called what, how, and how it ended', async () => {
    const kept = await call(shop(), 'works', 'fails', 'breaks');
    expect(namesOf(kept)).toEqual(['breaks', 'fails']);
    expect(kept.find(({ member }) => member.name === 'fails')).toEqual({
      format: 1,
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      decorum: '0.0.0',
      server: { name: 'shop', version: '1.2.3' },
      revision: '2025-11-25',
      era: 'stateful',
      transport: 'memory',
      client: { info: { name: '@decorum/testing', version: '0.0.0' }, capabilities: {} },
      member: { kind: 'tool', name: 'fails' },
      method: 'tools/call',
      params: { name: 'fails', arguments: {} },
      outcome: {
        status: 'tool-error',
        cause: 'expected',
        error: 'ToolError',
        message: 'Sold out',
        milliseconds: expect.any(Number),
      },
      redacted: 0,
    });
  });

  it('keeps a share of all calls, or none', async () => {
    expect(await call(shop({ when: 0 }), 'works', 'fails')).toEqual([]);
    expect(namesOf(await call(shop({ when: 1 }), 'works', 'fails'))).toEqual(['fails', 'works']);
  });

  it('keeps the calls that a function chooses', async () => {
    const when: RecorderOptions['when'] = ({ target }, { cause }) => target === 'works' || cause === 'bug';
    expect(namesOf(await call(shop({ when }), 'works', 'fails'))).toEqual(['works']);
  });

  it('keeps no more files than it may, and no others are deleted', async () => {
    writeFileSync(join(folder, 'mine.json'), '{}');
    const calls = Array.from({ length: 30 }, () => 'fails');
    await call(shop({ maxFiles: 5 }), ...calls);
    expect(readdirSync(folder)).toContain('mine.json');
    expect(readdirSync(folder).length).toBeLessThanOrEqual(6);
  });

  it('keeps no more bytes than it may: the oldest go first', async () => {
    await call(shop({ maxBytes: 4096, maxTotalBytes: 4096 }), 'fails');
    const [oldest] = readdirSync(folder) as [string];
    await call(shop({ maxBytes: 4096, maxTotalBytes: 4096 }), ...Array.from({ length: 10 }, () => 'fails'));
    const names = readdirSync(folder);
    expect(names).not.toContain(oldest);
    expect(names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)).toBeLessThanOrEqual(4096);
  });

  it('deletes what a process that was killed has left, but not what another one still writes', async () => {
    const [abandoned, current] = ['.a.json.part', '.b.json.part'].map((name) => join(folder, name)) as [string, string];
    for (const path of [abandoned, current]) writeFileSync(path, '{"format":');
    utimesSync(abandoned, new Date(0), new Date(0));
    await call(shop(), 'fails');
    expect(readdirSync(folder)).toContain('.b.json.part');
    expect(readdirSync(folder)).not.toContain('.a.json.part');
  });

  it('writes files that only their owner can read', async () => {
    await call(shop(), 'fails');
    const [name] = readdirSync(folder) as [string];
    expect(name).toMatch(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-fails-[\da-f]{8}\.json$/);
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('never disturbs a call if it can not write, and says so once', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const { server, errors } = shop({ folder: join(file, 'inside') });
    const client = await connect(server);
    for (let count = 0; count < 3; count++)
      expect(await client.callTool('fails')).toMatchObject({ isError: true, content: [{ text: 'Sold out' }] });
    await client.close();
    await server.close();
    expect(errors.map(({ message }) => message)).toEqual([
      `A call could not be recorded in ${join(file, 'inside')}. Told again after the next success.`,
    ]);
    chmodSync(folder, 0o700);
  });

  it('drops calls in a burst of failures, and says how many', async () => {
    const { server, errors } = shop({ when: 1 });
    const client = await connect(server);
    await Promise.all(Array.from({ length: 150 }, async () => await client.callTool('fails')));
    await client.close();
    await server.close();
    expect(recordings().length).toBeGreaterThanOrEqual(100);
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^\d+ calls were not recorded: too many ended at a time\.$/),
    ]);
  });

  it('does not write a call if a function that finds secrets fails', async () => {
    const find = () => {
      throw new Error('No secrets today');
    };
    const made = shop({ redact: { find } });
    expect(await call(made, 'fails')).toEqual([]);
    expect(made.errors.map(({ cause }) => (cause as Error).message)).toEqual(['No secrets today']);
  });
});
