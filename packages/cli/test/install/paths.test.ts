import { describe, expect, it } from '@jest/globals';

import { lastingNode, versionNote } from '../../src/install/node-path.js';
import { ownProgram } from '../../src/install/program.js';

describe('the path of Node.js', () => {
  it('is the one that Homebrew links, which outlives an update', () => {
    const isThere = (path: string) => path.startsWith('/opt/homebrew/opt/');
    expect(lastingNode('/opt/homebrew/Cellar/node@22/22.1.0_1/bin/node', isThere)).toBe(
      '/opt/homebrew/opt/node@22/bin/node',
    );
    expect(lastingNode('/home/linuxbrew/Cellar/node/22.1.0/bin/node', isThere)).toBe(
      '/home/linuxbrew/Cellar/node/22.1.0/bin/node',
    );
    expect(lastingNode('/usr/bin/node', () => true)).toBe('/usr/bin/node');
  });

  it.each([
    '/home/ada/.nvm/versions/node/v20.20.0/bin/node',
    '/home/ada/.volta/tools/image/node/22.1.0/bin/node',
    '/home/ada/.local/share/fnm/node-versions/v22.1.0/installation/bin/node',
    '/home/ada/.asdf/installs/nodejs/22.1.0/bin/node',
    '/nix/store/0c0wyl-nodejs-22.1.0/bin/node',
    'C:\\Users\\Ada\\AppData\\Roaming\\nvm\\v22.1.0\\node.exe',
  ])('is said to go away with its version: %s', (path) => {
    expect(versionNote(path)).toBe(
      `The client will run ${path}. Install the server again before you remove this version of Node.js.`,
    );
  });

  it.each([
    '/usr/bin/node',
    '/usr/local/bin/node',
    '/opt/homebrew/opt/node@22/bin/node',
    'C:\\Program Files\\nodejs\\node.exe',
  ])('is said to stay: %s', (path) => {
    expect(versionNote(path)).toBeUndefined();
  });
});

describe('the path of `decorum` itself', () => {
  it.each([
    '/home/ada/.npm/_npx/0f1e/node_modules/@decorum/cli/bin/decorum.js',
    'C:\\Users\\Ada\\AppData\\Local\\npm-cache\\_npx\\0f1e\\node_modules\\@decorum\\cli\\bin\\decorum.js',
    '/home/ada/.cache/pnpm/dlx/0f1e/1a-2b/node_modules/@decorum/cli/bin/decorum.js',
    '/tmp/xfs-0f1e/dlx-1234/node_modules/@decorum/cli/bin/decorum.js',
    '/tmp/bunx-0-decorum@latest/node_modules/@decorum/cli/bin/decorum.js',
  ])('is not installed from a cache: %s', (path) => {
    expect(() => ownProgram(path)).toThrow(
      `The client would start \`decorum\` from a cache: ${path}. Install it in the project first`,
    );
  });

  it('is installed from a folder that stays', () => {
    const path = '/usr/local/lib/node_modules/@decorum/cli/bin/decorum.js';
    expect(ownProgram(path)).toBe(path);
  });
});
