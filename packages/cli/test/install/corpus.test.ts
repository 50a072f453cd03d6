import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { CLIENTS } from '../../src/install/clients.js';
import { entryOf } from '../../src/install/edit.js';
import { carryOut, type InstallOptions, plan } from '../../src/install/install.js';
import { clientOf, targetOf } from '../../src/install/location.js';
import { uninstall } from '../../src/install/uninstall.js';
import { SAMPLES } from './corpus.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-install-')));
  writeFileSync(join(folder, 'main.js'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const config = (): string => join(folder, 'config');
const read = (): string => readFileSync(config(), 'utf8');

const options = (more: Partial<InstallOptions> = {}): InstallOptions => ({
  scope: 'user',
  config: config(),
  name: 'weather',
  entry: join(folder, 'main.js'),
  args: [],
  dev: false,
  url: undefined,
  env: { LOG_LEVEL: 'debug' },
  force: false,
  ...more,
});

const add = (client: string, more?: Partial<InstallOptions>) => carryOut(plan(clientOf(client), options(more)));
const take = (client: string, name = 'weather') =>
  uninstall(clientOf(client), { scope: 'user', config: config(), name, dryRun: false });

const without = (text: string, ignored: RegExp) => text.replaceAll(ignored, '');

/** Whether all characters of a text are in another one, in the same order. */
function isInside(part: string, whole: string): boolean {
  let at = 0;
  for (let index = 0; index < whole.length; index++) if (whole[index] === part[at]) at++;
  return at === part.length;
}

const CASES = SAMPLES.map(({ client, title, text }) => ({ name: `${client}: ${title}`, client, text }));

describe('a configuration', () => {
  it('comes from every client that install knows', () => {
    expect([...new Set(SAMPLES.map(({ client }) => client))].toSorted()).toEqual(
      CLIENTS.map(({ id }) => id).toSorted(),
    );
    expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length);
    expect(CASES.length).toBeGreaterThanOrEqual(40);
  });

  it.each(CASES)('keeps all of its text when a server is added: $name', ({ client, text }) => {
    writeFileSync(config(), text);
    add(client);
    expect(entryOf(without(read(), /^\uFEFF/g), targetOf(clientOf(client), 'weather'))).toBeInstanceOf(Map);
    // an empty section and white space in it make room
    const kept = without(text, client === 'goose' ? /\s|\{\}|null/g : /\s/g);
    expect(isInside(kept, read())).toBe(true);
    if (/\r\n/.test(text)) expect(read()).not.toMatch(/(?<!\r)\n/);
    else expect(read()).not.toContain('\r');
    if (text.trim() !== '') expect(read().endsWith('\n')).toBe(text.endsWith('\n'));
  });

  it.each(CASES)('has every byte back after install and uninstall: $name', ({ client, text }) => {
    writeFileSync(config(), text);
    add(client);
    expect(read()).not.toBe(text);
    take(client);
    expect(read()).toBe(text);
    expect(readdirSync(folder)).toEqual(['config', 'main.js']);
  });

  it.each(CASES)('has every byte back when two servers leave in any order: $name', ({ client, text }) => {
    for (const [first, second] of [
      ['weather', 'notes'],
      ['notes', 'weather'],
    ]) {
      writeFileSync(config(), text);
      add(client);
      add(client, { name: 'notes', url: client === 'claude-desktop' ? undefined : 'http://127.0.0.1:3000/mcp' });
      take(client, first);
      take(client, second);
      expect(read()).toBe(text);
    }
  });

  it.each(CASES)('is the same after a second install: $name', ({ client, text }) => {
    writeFileSync(config(), text);
    add(client);
    const once = read();
    expect(add(client)).toContain('already');
    expect(read()).toBe(once);
  });

  it.each(CASES)('keeps its content if the backup is gone: $name', ({ client, text }) => {
    writeFileSync(config(), text);
    add(client, { name: 'notes' });
    const before = read();
    add(client);
    rmSync(`${config()}.decorum-backup`);
    take(client);
    expect(read()).toBe(before);
  });
});
