// docs/operate/scaling.md: its program runs in two processes, and nginx accepts its configuration.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { openSession, post } from '../../packages/http/test/sending.js';
import { call } from '../../packages/http/test/messages.js';
import { ROOT } from '../architecture/source.js';
import { RedisServer } from '../support/redis-server.js';
import { blocksOf } from './blocks.js';
import { PageProcess, PagePrograms } from './running.js';

const PAGE = 'docs/operate/scaling.md';

describe('the program of docs/operate/scaling.md', () => {
  let redis: RedisServer;
  let programs: PagePrograms;
  beforeAll(async () => {
    redis = await RedisServer.start();
    programs = new PagePrograms(PAGE);
  });
  afterAll(async () => {
    programs.remove();
    await redis.end();
  });

  const start = async () => {
    const env = { ...process.env, REDIS_URL: redis.url, DECORUM_SECRET: 's'.repeat(32) };
    return await PageProcess.start(programs.programOf('main.ts'), 1, { env });
  };

  it('serves a session that another process has begun, also when that one has ended', async () => {
    const [first, second] = [await start(), await start()];
    const session = await openSession(`${first.origin}/mcp`);
    const order = async () => await (await post(`${second.origin}/mcp`, call(1, 'order'), session)).text();
    expect(await order()).toContain('Ordered.');
    expect(await first.stop()).toBe(0);
    expect(await order()).toContain('Ordered.');
    expect((await fetch(`${second.origin}/readyz`)).status).toBe(200);
    await second.stop();
  });

  it('does not start without a secret', async () => {
    const { DECORUM_SECRET: _, ...env } = process.env;
    const started = PageProcess.start(programs.programOf('main.ts'), 1, { env });
    await expect(started).rejects.toThrow(/`secret` is missing. The processes of a cluster need the same one/);
  });
});

const onThisMachine = (text: string) => text.replaceAll(/\bnode\d:/g, '127.0.0.1:');
const SITES = blocksOf(PAGE).filter(({ language }) => language === 'nginx');

/** What `nginx -t` says of a configuration. */
function tested(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'nginx-'));
  writeFileSync(join(folder, 'nginx.conf'), `pid ${folder}/nginx.pid;\n${onThisMachine(text)}`);
  const { stderr, error } = spawnSync('/usr/sbin/nginx', ['-t', '-e', 'stderr', '-c', join(folder, 'nginx.conf')], {
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  if (error) throw error;
  return stderr;
}

describe('nginx accepts', () => {
  it.each(SITES.map((block) => [`${block.page}:${block.line}`, block.text]))('the block at %s', (_at, text) => {
    expect(tested(`events {}\nhttp {\naccess_log off;\n${text}\n}`)).toContain('syntax is ok');
  });

  it('nginx.conf of examples/cluster, which is the first block', () => {
    const text = readFileSync(join(ROOT, 'examples/cluster/nginx.conf'), 'utf8');
    expect(tested(text)).toContain('syntax is ok');
    const directives = (of: string) => [...of.matchAll(/^ *([a-z_]+ [^#\n]*;)/gm)].map(([, each]) => each);
    expect(directives(text)).toEqual(directives(SITES[0]?.text ?? ''));
  });
});
