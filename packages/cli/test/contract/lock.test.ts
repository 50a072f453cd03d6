import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createProject, type Project } from '../project.js';

/** A server whose members only some callers see. Its hooks must not run, and nothing may listen. */
const BILLING = `
import { writeFileSync } from 'node:fs';
import { McpServer, NoInput, Prompt, Resource, serveStdio, Tool } from '@decorum/core';

class Billing {
  onStart() {
    writeFileSync('started.txt', 'started');
  }

  @Tool({
    description: 'Pays an invoice', scopes: ['pay'], aliases: ['settle'], annotations: { idempotentHint: true },
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  })
  pay() {}

  @Tool({ description: 'Lists invoices', access: () => false, listed: false, input: NoInput, annotations: { readOnlyHint: true } })
  invoices() {}

  @Prompt({ description: 'Reminds a customer', input: { type: 'object', properties: { name: { type: 'string' } } } })
  remind() { return ''; }

  @Resource('billing://terms', { description: 'The terms' })
  terms() { return ''; }

  @Resource('billing://invoices/{id}', { description: 'An invoice' })
  invoice() { return ''; }
}

console.log('on stdout');
await serveStdio(new McpServer({ name: 'billing', version: '1.0.0', providers: [Billing] }));
`;

let project: Project;
beforeEach(() => {
  project = createProject({ 'package.json': { type: 'module' }, 'src/main.ts': BILLING });
});
afterEach(() => project.remove());

const read = (file: string) => readFileSync(join(project.folder, file), 'utf8');

describe('decorum lock', () => {
  it('writes all members, whoever may see them, and opens nothing', async () => {
    const { code, stdout } = await project.decorum(['lock']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'decorum.lock.json   2 tools, 1 prompt, 1 resource, 1 template\n',
    });
    const { server, revisions } = JSON.parse(read('decorum.lock.json')) as {
      server: object;
      revisions: Readonly<Record<string, { tools: readonly { name: string }[] }>>;
    };
    expect(server).toEqual({ name: 'billing' });
    expect(Object.values(revisions)[0]?.tools.map(({ name }) => name)).toEqual(['invoices', 'pay']);
    expect(() => read('started.txt')).toThrow('ENOENT');
  });

  it('writes what older revisions have only once, so each change is shown once', async () => {
    await project.decorum(['lock']);
    const text = read('decorum.lock.json');
    expect(text.match(/Pays an invoice/g)).toHaveLength(1);
    expect(text).toContain('{ "name": "pay", "as": "2024-11-05", "annotations": { "idempotentHint": true } }');
    expect(text).toContain('"tools": "2025-03-26"');
  });

  it('writes other names, and what is on no list', async () => {
    await project.decorum(['lock']);
    const text = read('decorum.lock.json');
    expect(text).toContain('"aliases": ["settle"]');
    expect(text.match(/"listed": false/g)).toHaveLength(1);
  });

  it('writes which tools show a plan first', async () => {
    const planning = BILLING.replace("aliases: ['settle']", "preview: 'plan'").replace(
      'pay() {}',
      'pay() {}\n  plan() { return 1; }',
    );
    project.write({ 'src/main.ts': planning });
    await project.decorum(['lock']);
    expect(read('decorum.lock.json').match(/"preview": true/g)).toHaveLength(1);
  });

  it('writes the same bytes for the same members in another order', async () => {
    await project.decorum(['lock', '--out', 'a.json']);
    const [head = '', pay = '', invoices = '', ...rest] = BILLING.split(/(?= {2}@Tool)|(?= {2}@Prompt)/);
    project.write({ 'src/main.ts': [head, invoices, pay, ...rest].join('') });
    await project.decorum(['lock', '--out', 'b.json']);
    expect(read('b.json')).toBe(read('a.json'));
  });

  it('says with --json what it wrote, and whether anything changed', async () => {
    const counts = { tools: 2, prompts: 1, resources: 1, resourceTemplates: 1 };
    const runs = [await project.decorum(['lock', '--json']), await project.decorum(['lock', '--json'])];
    expect(runs.map(({ stdout }) => JSON.parse(stdout) as unknown)).toEqual([
      { file: 'decorum.lock.json', hasChanged: true, counts },
      { file: 'decorum.lock.json', hasChanged: false, counts },
    ]);
  });

  it('fails with the mistake of an entry that does not load, and writes nothing', async () => {
    project.write({ 'src/main.ts': BILLING.replace('input: NoInput', 'input: 7') });
    const { code, stdout, stderr } = await project.decorum(['lock']);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('Billing.invoices'),
    });
    project.write({ 'src/main.ts': 'export const one = 1;' });
    const none = await project.decorum(['lock']);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('creates no server') });
    project.write({ 'src/main.ts': 'process.exit(7);' });
    expect(await project.decorum(['lock'])).toMatchObject({ code: 1, stderr: expect.stringContaining('exit code 7') });
    expect(() => read('decorum.lock.json')).toThrow('ENOENT');
  });

  it('fails with 3 if the file can not be written', async () => {
    const { code, stderr } = await project.decorum(['lock', '--out', 'missing/lock.json']);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringContaining("missing/lock.json can't be written"),
    });
  });
});
