import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { readConfig, writeConfig } from '../../src/install/config-file.js';
import { carryOut, type InstallOptions, plan } from '../../src/install/install.js';
import { clientOf } from '../../src/install/location.js';
import { uninstall } from '../../src/install/uninstall.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-install-')));
  writeFileSync(join(folder, 'main.js'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const config = (): string => join(folder, 'config');
const read = (): string => readFileSync(config(), 'utf8');

function add(client: string, more: Partial<InstallOptions> = {}) {
  const defaults = { scope: 'user', config: config(), name: 'weather', entry: join(folder, 'main.js') } as const;
  const rest = { args: [], dev: false, url: undefined, env: {}, force: false };
  return carryOut(plan(clientOf(client), { ...defaults, ...rest, ...more }));
}

const take = (client: string, name = 'weather') =>
  uninstall(clientOf(client), { scope: 'user', config: config(), name, dryRun: false });

const DESKTOP = '{\n  "mcpServers": {\n    "notes": { "command": "notes" }\n  }\n}\n';

describe('a configuration that cannot be edited', () => {
  it.each([
    ['cursor', '{\n  "mcpServers": {,}\n}', '2:18: it is not valid JSON: value expected'],
    ['cursor', '{ "mcpServers": {', '1:18: it is not valid JSON: close brace expected'],
    ['cursor', '[]', '1:1: it is not an object'],
    ['cursor', '{\n "mcpServers": []\n}', '2:16: `mcpServers` is not an object'],
    ['cursor', '{ "mcpServers": null }', '1:17: `mcpServers` is not an object'],
    ['cursor', '{ "mcpServers": {}, "mcpServers": {} }', '1:21: it has `mcpServers` twice. Remove one of them'],
    ['cursor', '{ "mcpServers": { "weather": 1, "weather": 2 } }', '1:33: it has `weather` twice. Remove one of them'],
    ['codex', 'model = "o3"\nmodel = \n', '3:1: it is not valid TOML: Unspecified values are invalid'],
    ['codex', 'a = 1\na = 2\n', '2:1: it is not valid TOML: Defining a key multiple times is invalid'],
    ['codex', 'mcp_servers = 1\n', '1:15: `mcp_servers` is not a table'],
    ['codex', '[[mcp_servers]]\na = 1\n', '1:1: `mcp_servers` is an array of tables'],
    [
      'goose',
      'a: [1\nb: 2\n',
      '2:1: it is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    ['goose', 'a: 1\na: 2\n', '2:1: it is not valid YAML: Map keys must be unique'],
    ['goose', 'extensions: []\n', '1:1: `extensions` is not an object'],
    ['goose', '- a\n', '1:1: it is not a map'],
    ['goose', 'a: 1\n---\nb: 2\n', '2:1: it has several documents'],
    ['goose', 'a: &b { c: 1 }\nextensions: *b\n', '1:1: it is written in a way that this command cannot edit'],
    ['goose', 'a: 1\n...\n', '1:1: it is written in a way that this command cannot edit'],
  ])('stays as it is, and the error says where: %s %j', (client, text, problem) => {
    writeFileSync(config(), text);
    const say = `${config()}:${problem}. Nothing was changed. \`--print\` shows what to add by hand.`;
    expect(() => add(client)).toThrow(say);
    expect(read()).toBe(text);
    expect(readdirSync(folder)).toEqual(['config', 'main.js']);
  });

  it('stays as it is if it is not text', () => {
    writeFileSync(config(), Buffer.from('\uFEFF{}', 'utf16le'));
    expect(() => add('cursor')).toThrow(`${config()} is not text in UTF-8. Save it as UTF-8 first.`);
  });

  it('stays as it is if it is nested very deeply', () => {
    const text = `{ "a": ${'['.repeat(50_000)}${']'.repeat(50_000)} }`;
    writeFileSync(config(), text);
    expect(() => add('cursor')).toThrow(/nested too deeply|cannot edit/);
    expect(read()).toBe(text);
  });

  it('stays as it is if it is a folder', () => {
    mkdirSync(config());
    expect(() => add('cursor')).toThrow(`${config()} is a folder. Pass the path of a file to --config.`);
  });

  it('stays as it is if it is too large for a configuration', () => {
    writeFileSync(config(), '');
    truncateSync(config(), 64 * 1024 * 1024 + 1);
    expect(() => add('cursor')).toThrow(`${config()} has over 64 MB.`);
  });

  it('stays as it is if it is read-only', () => {
    writeFileSync(config(), DESKTOP);
    chmodSync(config(), 0o444);
    expect(() => add('cursor')).toThrow(/read-only|EACCES/);
    expect(read()).toBe(DESKTOP);
  });

  it('stays as it is if another program has written it meanwhile', () => {
    writeFileSync(config(), DESKTOP);
    const file = readConfig(config());
    writeFileSync(config(), '{}');
    const write = () => writeConfig(file, 'x', { isPrivate: true, backup: 'write' });
    expect(write).toThrow(`${config()} has changed meanwhile. Nothing was written. Run the command again.`);
    expect(read()).toBe('{}');
    expect(readdirSync(folder)).toEqual(['config', 'main.js']);
    rmSync(config());
    expect(write).toThrow('has changed meanwhile');
  });

  it('stays missing if another program has created it meanwhile', () => {
    const file = readConfig(config());
    writeFileSync(config(), '{}');
    expect(() => writeConfig(file, 'x', { isPrivate: true, backup: 'write' })).toThrow('has changed meanwhile');
    expect(read()).toBe('{}');
  });
});

describe('a configuration that does not exist', () => {
  it('is created with its folder, for the user only, and removed again', () => {
    const path = join(folder, 'new/deep/mcp.json');
    add('cursor', { config: path });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    uninstall(clientOf('cursor'), { scope: 'user', config: path, name: 'weather', dryRun: false });
    expect(readdirSync(join(folder, 'new/deep'))).toEqual([]);
  });

  it('is created for everybody in a project', () => {
    add('cursor', { scope: 'project' });
    expect(statSync(config()).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('is removed with the last of the servers that were installed', () => {
    add('codex');
    add('codex', { name: 'notes' });
    take('codex');
    expect(read()).toContain('[mcp_servers.notes]');
    take('codex', 'notes');
    expect(readdirSync(folder)).toEqual(['main.js']);
  });

  it('stays if something else was added to it', () => {
    add('cursor');
    writeFileSync(config(), read().replace('{', '{\n  "theme": "dark",'));
    take('cursor');
    expect(read()).toBe('{\n  "theme": "dark"\n}\n');
  });
});

describe('a configuration that is edited', () => {
  it('keeps its permissions, and has a backup that only the user may read', () => {
    writeFileSync(config(), DESKTOP);
    chmodSync(config(), 0o664);
    add('cursor');
    expect(statSync(config()).mode & 0o777).toBe(0o664);
    const backup = `${config()}.decorum-backup`;
    expect(readFileSync(backup, 'utf8')).toBe(DESKTOP);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
  });

  it('is the file that a symbolic link leads to', () => {
    mkdirSync(join(folder, 'dotfiles'));
    writeFileSync(join(folder, 'dotfiles/mcp.json'), DESKTOP);
    symlinkSync('dotfiles/mcp.json', config());
    add('cursor');
    expect(lstatSync(config()).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'dotfiles/mcp.json'), 'utf8')).toContain('weather');
    take('cursor');
    expect(read()).toBe(DESKTOP);
  });

  it('is created where a symbolic link leads to', () => {
    mkdirSync(join(folder, 'dotfiles'));
    symlinkSync('dotfiles/mcp.json', config());
    add('cursor');
    expect(lstatSync(config()).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'dotfiles/mcp.json'), 'utf8')).toContain('weather');
  });

  it('keeps what a client has changed since, and loses only the server', () => {
    writeFileSync(config(), DESKTOP);
    add('cursor');
    writeFileSync(config(), read().replace('"notes"', '"other"'));
    take('cursor');
    expect(read()).toBe(DESKTOP.replace('"notes"', '"other"'));
  });

  it('keeps an empty section that was there before', () => {
    writeFileSync(config(), '{\n  "mcpServers": {},\n  "scale": 1\n}\n');
    add('cursor');
    writeFileSync(config(), read().replace('"scale": 1', '"scale": 2'));
    take('cursor');
    expect(read()).toBe('{\n  "mcpServers": {},\n  "scale": 2\n}\n');
  });

  it('keeps a section without a value that was there before', () => {
    writeFileSync(config(), 'extensions: # none yet\nlast: 1\n');
    add('goose');
    writeFileSync(config(), read().replace('last: 1', 'last: 2'));
    take('goose');
    expect(read()).toBe('extensions: # none yet\n  {}\nlast: 2\n');
  });

  it('keeps a server that has the name of the new one, unless it may be replaced', () => {
    writeFileSync(config(), DESKTOP);
    const problem =
      'Cursor has another server with the name notes. Pass --force to replace it, or --name for another name.';
    expect(() => add('cursor', { name: 'notes' })).toThrow(problem);
    expect(read()).toBe(DESKTOP);
    add('cursor', { name: 'notes', force: true });
    expect(read()).toContain(join(folder, 'main.js'));
    expect(readFileSync(`${config()}.decorum-backup`, 'utf8')).toBe(DESKTOP);
    expect(take('cursor', 'notes')).toContain(`The server that it replaced is in ${config()}.decorum-backup`);
    expect(read()).toBe('{}\n');
    expect(readFileSync(`${config()}.decorum-backup`, 'utf8')).toBe(DESKTOP);
  });

  it.each(['__proto__', 'constructor', 'toString'])('may have a server of others with the name %s', (name) => {
    const texts = {
      cursor: `{ "mcpServers": { "${name}": { "command": "a" } } }`,
      codex: `[mcp_servers.${name}]\ncommand = "a"\n`,
      goose: `extensions:\n  ${name}:\n    cmd: a\n`,
    };
    for (const [client, text] of Object.entries(texts)) {
      writeFileSync(config(), text);
      add(client);
      expect(read()).toContain(name);
      expect(add(client)).toContain('already');
      take(client);
      expect(read()).toBe(text);
      expect(() => add(client, { name })).toThrow('which not all clients accept. Choose another one.');
    }
    expect(Object.prototype).not.toHaveProperty('command');
  });

  it('has paths with all characters, in every format', () => {
    const entry = join(folder, `a "b" \\c 'd' ünï 😀 #e: {f}.js`);
    writeFileSync(entry, '');
    for (const client of ['cursor', 'codex', 'goose']) {
      writeFileSync(config(), '');
      add(client, { entry, env: { A: 'two\nlines\u007F\u2028', B: '' } });
      expect(add(client, { entry, env: { A: 'two\nlines\u007F\u2028', B: '' } })).toContain('already');
      // YAML can't have these characters, and TOML some of them
      if (client !== 'cursor') expect(read()).not.toMatch(/[\u007F\u2028]/);
      rmSync(config());
    }
  });
});
