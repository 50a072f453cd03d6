// The loggers that users of Nest choose get the errors of a server with all their facts.
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { compiled, createProject, type Project } from '../packaging/project.js';

// applications start in processes of their own
jest.setTimeout(60_000);

const TEXT = 'an error was masked from the client';

describe.each([
  ['Nest 11 in CommonJS', 'nest11', 'commonjs'],
  ['Nest 12 in ES modules', 'nest12', 'es6'],
] as const)('A masked error in %s', (_version, folder, modules) => {
  let project: Project;
  beforeAll(() => {
    project = createProject({ from: folder });
    project.write('loggers.js', compiled('nest-loggers.ts', modules));
  });
  afterAll(() => project.remove());

  it.each([
    ['nestjs-pino', { level: 50, message: TEXT, context: 'McpServer' }],
    ['PinoLogger', { level: 50, msg: TEXT }],
    ['nest-winston', { level: 'error', message: TEXT, context: 'McpServer' }],
  ])('has its facts in the log of %s (#23)', async (logger, own) => {
    const output = await project.run(process.execPath, ['loggers.js', logger]);
    const { result, entries } = JSON.parse(output) as { result: object; entries: Record<string, unknown>[] };
    const [reference] = /[\da-f]{8}/.exec(JSON.stringify(result)) ?? [];
    expect(entries.filter(({ level }) => level === own.level)).toMatchObject([
      {
        ...own,
        reference,
        method: 'tools/call',
        member: 'pay',
        subject: 'ada',
        transport: 'memory',
        err: { type: 'Error', message: 'The bank refused.', stack: expect.stringContaining('loggers.js') },
      },
    ]);
  });
});
