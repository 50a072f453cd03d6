import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { compiled, createProject, type Project } from './project.js';

// compilers and servers run in separate processes
jest.setTimeout(180_000);

const ENTRIES = [
  'auth',
  'core',
  'core/internal',
  'core/plugin',
  'core/transport',
  'http',
  'http/cluster',
  'http/fetch',
  'http/lambda',
  'http/node',
  'schema',
  'schema/internal',
  'testing',
  'uri-template',
];

describe('a CommonJS program', () => {
  let project: Project;

  beforeAll(() => {
    project = createProject({});
  });
  afterAll(() => project.remove());

  it('shares one copy of each package with the ES modules of its process', async () => {
    const script = `
      const names = ${JSON.stringify(ENTRIES)};
      Promise.all(names.map(async (name) => {
        const required = require('@decorum/' + name);
        const imported = await import('@decorum/' + name);
        return Object.keys(imported).every((key) => imported[key] === required[key]);
      })).then((same) => console.log(JSON.stringify(same)));
    `;
    expect(JSON.parse(await project.run('node', ['--eval', script]))).toEqual(ENTRIES.map(() => true));
  });

  // jose, which auth needs, is an ES module only
  it('gets the same exports of all but auth if ES modules cannot be required', async () => {
    const script = `
      Promise.all(${JSON.stringify(ENTRIES.filter((name) => name !== 'auth'))}.map(async (name) => {
        const required = require('@decorum/' + name);
        const imported = await import('@decorum/' + name);
        return [Object.keys(required).sort().join(), Object.keys(imported).sort().join(), required === imported];
      })).then((found) => console.log(JSON.stringify(found)));
    `;
    const printed = await project.run('node', ['--no-experimental-require-module', '--eval', script]);
    for (const [required, imported, isSame] of JSON.parse(printed) as [string, string, boolean][]) {
      expect(required).toBe(imported);
      expect(isSame).toBe(false);
    }
  });

  it('serves DTOs from either build', async () => {
    project.write('orders.cjs', compiled('orders.ts', 'commonjs'));
    const script = `
      const { connect } = require('@decorum/testing');
      const { server } = require('./orders.cjs');
      const args = { name: ' Ada ', mail: 'ada@example.com', credit: { amount: 5 } };
      connect(server)
        .then((client) => client.callTool('register', args))
        .then(({ content }) => console.log(content[0].text));
    `;
    for (const flags of [[], ['--no-experimental-require-module']]) {
      expect(await project.run('node', [...flags, '--eval', script])).toBe('[Ada] ada@example.com 5 EUR\n');
    }
  });
});
