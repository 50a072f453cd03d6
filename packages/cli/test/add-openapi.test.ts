import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { planDocument } from '../src/add/add-document.js';
import { writeFiles } from '../src/add/write-files.js';

const HOME = process.cwd();
let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-add-openapi-')));
  process.chdir(folder);
  writeFileSync('package.json', '{ "type": "module" }');
  writeFileSync('pets.yaml', 'openapi: 3.1.0\nservers:\n  - url: https://pets.example.com/v1\n');
});
afterEach(() => {
  process.chdir(HOME);
  rmSync(folder, { recursive: true });
});

const IMPORT = "import { McpServer } from '@decorum/core';\n";
const OPENAPI = "import { openapi } from '@decorum/openapi';\n";
const ELEMENT = "await openapi(new URL('./pets.yaml', import.meta.url), { baseUrl: 'https://pets.example.com/v1' })";

/** Adds the document to a server, and returns the file. */
function added(code: string): string {
  writeFileSync('server.ts', IMPORT + code);
  writeFiles(planDocument('pets.yaml', undefined).changes);
  return readFileSync('server.ts', 'utf8');
}

describe('decorum add openapi', () => {
  it.each([
    ["new McpServer({ name: 'a', providers: [A] });\n", `new McpServer({ name: 'a', providers: [A, ${ELEMENT}] });\n`],
    ["new McpServer({ name: 'a', providers: [] });\n", `new McpServer({ name: 'a', providers: [${ELEMENT}] });\n`],
    ["new McpServer({ name: 'a' });\n", `new McpServer({ name: 'a', providers: [${ELEMENT}] });\n`],
    ["new McpServer({\n  name: 'a',\n});\n", `new McpServer({\n  name: 'a', providers: [${ELEMENT}],\n});\n`],
    [
      'const a = async () => new McpServer({ providers: [A,] });\n',
      `const a = async () => new McpServer({ providers: [A, ${ELEMENT},] });\n`,
    ],
  ])('adds the document to the providers of %j', (code, expected) => {
    expect(added(code)).toBe(IMPORT + OPENAPI + expected);
  });

  it('names the document in such a way that the source and the build find it, from whatever folder they are started', () => {
    mkdirSync('src/shop', { recursive: true });
    writeFileSync('src/shop/server.ts', `${IMPORT}new McpServer({ name: 'a' });\n`);
    writeFileSync('src/shop/pets.yaml', 'openapi: 3.1.0\n');
    const [change] = planDocument('src/shop/pets.yaml', 'src/shop/server.ts').changes;
    expect(change?.text).toContain("openapi(new URL('../../src/shop/pets.yaml', import.meta.url), {");
  });

  it('names the document by its path where the code is CommonJS', () => {
    writeFileSync('package.json', '{}');
    expect(added("new McpServer({ name: 'a' });\n")).toContain("openapi('pets.yaml', {");
  });

  it('adds headers if the document wants credentials, and says what to check and install', () => {
    writeFileSync('pets.yaml', 'openapi: 3.1.0\ncomponents: { securitySchemes: { a: {} } }\n');
    writeFileSync('server.ts', `${IMPORT}new McpServer({ name: 'a' });\n`);
    const { changes, report } = planDocument('pets.yaml', 'server.ts');
    expect(changes[0]?.text).toContain("headers: { authorization: `Bearer ${process.env['API_TOKEN']}` }");
    expect(report).toEqual([
      'server.ts:3  openapi(pets.yaml). Check its `baseUrl`.',
      'Install it: npm install @decorum/openapi',
    ]);
  });

  it.each([
    ['', 'No file constructs an McpServer'],
    ['new McpServer({}); new McpServer({});\n', '2 places construct an McpServer'],
    [
      'const a = () => new McpServer({});\n',
      '`await` is not allowed here. Make the function async, or add it yourself: await openapi(',
    ],
    ['new McpServer({ providers: all });\n', '`providers` is no list in the code'],
  ])('writes nothing to %j', (code, problem) => {
    expect(() => added(code)).toThrow(problem);
    expect(readFileSync('server.ts', 'utf8')).toBe(IMPORT + code);
  });

  it('writes nothing for a document that is not there', () => {
    expect(() => planDocument('none.yaml', undefined)).toThrow("none.yaml doesn't exist. Nothing was written.");
  });
});
