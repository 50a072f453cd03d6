import { mkdirSync, mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { Users } from '../../src/users/parse-users.js';
import { hashPassword, parseHash, type PasswordHash } from '../../src/users/password-hash.js';
import { usersFile } from '../../src/users/users-file.js';

let hash: string;
beforeAll(async () => {
  hash = await hashPassword('hunter2');
});

let folder: string;
let path: string;
const warnings: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'users-'));
  path = join(folder, 'users.json');
  warnings.length = 0;
  jest.spyOn(process, 'emitWarning').mockImplementation((warning) => void warnings.push(String(warning)));
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const write = (content: unknown) =>
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));

describe('a file of users', () => {
  it('knows who has which password, and what they may grant', async () => {
    write({ alice: { password: hash, scopes: ['mcp', 'admin'] }, 'J\u00FCrgen': { password: hash } });
    const users = usersFile(path);
    expect(await users.verify('alice', 'hunter2')).toEqual({
      subject: 'alice',
      name: 'alice',
      scopes: ['mcp', 'admin'],
    });
    expect(await users.verify('alice', 'hunter3')).toBeUndefined();
    expect(await users.verify('Alice', 'hunter2')).toBeUndefined();
    // in the other normal form, and with the space that keyboards add
    expect(await users.verify('Ju\u0308rgen ', 'hunter2')).toEqual({ subject: 'J\u00FCrgen', name: 'J\u00FCrgen' });
    expect(await users.find('alice')).toMatchObject({ subject: 'alice' });
  });

  it.each([['mallory'], ['__proto__'], ['constructor'], ['']])(
    'knows nobody called %j, also by the password of others',
    async (name) => {
      write({ alice: { password: hash } });
      const users = usersFile(path);
      expect(await users.verify(name, 'hunter2')).toBeUndefined();
      expect(await users.find(name)).toBeUndefined();
    },
  );

  it('is read again when it has changed', async () => {
    write({ alice: { password: hash } });
    const users = usersFile(path);
    write({ alice: { password: hash, scopes: ['mcp'] }, bob: { password: hash } });
    expect(await users.find('alice')).toMatchObject({ scopes: ['mcp'] });
    expect(await users.find('bob')).toBeDefined();
    write({ bob: { password: hash } });
    expect(await Promise.all([users.find('alice'), users.verify('alice', 'hunter2')])).toEqual([undefined, undefined]);
    expect(warnings).toEqual([]);
  });

  it('stays valid, with one warning for each change, while it has a mistake', async () => {
    write({ alice: { password: hash } });
    const users = usersFile(path);
    write('{ "alice": {\n "password": "hunter2"');
    expect(await users.find('alice')).toBeDefined();
    expect(await users.verify('alice', 'hunter2')).toBeDefined();
    expect(warnings).toEqual([`${path} is not valid JSON (line 2). The users that were read before stay valid`]);
    unlinkSync(path);
    expect(await users.find('alice')).toBeDefined();
    expect(await users.find('alice')).toBeDefined();
    expect(warnings).toHaveLength(2);
    expect(warnings[1]).toMatch(/users\.json does not exist/);
    write({ bob: { password: hash } });
    expect([await users.find('alice'), await users.find('bob')]).toEqual([undefined, expect.anything()]);
  });
});

describe('a file with a mistake fails at startup', () => {
  const mistake = () => {
    try {
      usersFile(path);
    } catch (error) {
      expect(error).toMatchObject({ code: 'DECORUM_INVALID_OPTION' });
      return (error as Error).message;
    }
    return 'none';
  };

  it.each([
    ['', 'is not valid JSON'],
    ['{\n"alice": {\n"password": hunter2 } }', 'is not valid JSON'],
    [[], 'must contain an object: { "alice": { "password": "<hash>" } }'],
    [{}, 'has no users. Add one'],
    [{ '': {} }, 'has a user without a name'],
    [{ ' alice': {} }, 'has a mistake at " alice": names have at most 200 characters'],
    [{ 'e\u0301': {} }, 'are in NFC'],
    [{ 'a\nb': {} }, 'has a mistake at "a\\nb"'],
    [{ alice: 'hunter2' }, 'has a mistake at "alice": must be { "password": "<hash>" }'],
    [{ alice: {} }, 'has a mistake at "alice": "password" is missing'],
    [
      { alice: { password: 'hunter2' } },
      'at "alice": "password" must be a hash, not a password. Run `decorum hash-password`',
    ],
    [{ alice: { pasword: 'hunter2' } }, 'at "alice": "pasword" is unknown. Use password and scopes'],
  ])('%j', (content, problem) => {
    write(content);
    const said = mistake();
    expect(said).toContain(`authorizationServer: \`users\` is the file ${path}, which `);
    expect(said).toContain(problem);
    expect(said).not.toContain('hunter2');
  });

  it.each([['mcp'], [['a b']], [[7]]])('the scopes %j', (scopes) => {
    write({ alice: { password: hash, scopes } });
    expect(mistake()).toContain('at "alice": "scopes" must be an array of scopes');
  });

  it('no file, or none that can be read', () => {
    expect(mistake()).toContain('does not exist. Create it');
    mkdirSync(path);
    expect(mistake()).toContain("can't be read: EISDIR");
    expect(() => usersFile(undefined as never)).toThrow('usersFile: `path` must be the path of a JSON file');
  });
});

describe('unknown names', () => {
  const at = (parameters: string) =>
    parseHash(`$scrypt$${parameters}$${'A'.repeat(22)}$${'A'.repeat(43)}`) as PasswordHash;

  it('take as long as some user, who stays the same for a name, so that mixed hashes tell nothing', () => {
    const hashes = [at('ln=17,r=8,p=1'), at('ln=13,r=8,p=10')];
    const users = () =>
      new Users(
        new Map(hashes.map((each, index) => [`user${index}`, { user: { subject: `user${index}` }, hash: each }])),
      );
    const names = Array.from({ length: 100 }, (_, index) => `stranger${index}`);
    const decoys = names.map((name) => users().decoy(name));
    expect(decoys).toEqual(names.map((name) => users().decoy(` ${name}`)));
    for (const each of hashes) expect(decoys.filter((decoy) => decoy === each).length).toBeGreaterThan(25);
  });
});
