// Programs that can't start although something in them goes on: a supervisor starts them again only once they have ended.
import { afterEach, describe, expect, it } from '@jest/globals';

import { createProject, type Project } from './project.js';

let project: Project | undefined;
afterEach(() => project?.remove());

const RUNS = 'setInterval(() => {}, 1000);';
const SECRET = { DECORUM_SECRET: 'a secret of the workers that is long enough' };

const FAILING = `import { McpServer, Tool } from '@decorum/core';
class Table {
  @Tool({ description: 'Reads' }) read() {}
  onStart() { ${RUNS} throw new Error('No table.'); }
  onClose() { console.error('closed'); }
}
export default new McpServer({ name: 'tables', version: '1.0.0', providers: [Table] });`;

describe.each([
  { how: 'in one process', flags: [], line: '' },
  { how: 'with workers', flags: ['--workers', '2'], line: '\\[1\\] ' },
])('decorum start ends $how', ({ flags, line }) => {
  const start = async (code: string) => {
    project = createProject({ 'main.ts': code });
    return await project.decorum(['start', ...flags, 'main.ts'], { env: SECRET });
  };

  it('with the error of a program that has begun something', async () => {
    const { code, stderr } = await start(`${RUNS}\nthrow new Error('No key.');`);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(`${line}main\\.ts:2:7 {2}No key\\.\n$`),
    });
  });

  it('with the place in the program that awaits what fails', async () => {
    const { code, stderr } = await start(`import { readFile } from 'node:fs/promises';\nawait readFile('no.txt');`);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(`${line}main\\.ts:2:1 {2}ENOENT`) });
  });

  it('with the error of an `auth` that does not open, also if nobody awaits the server', async () => {
    const { code, stderr } = await start(`import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
const auth = { authenticate: () => ({ subject: 'ada' }), opened() { throw new Error('No keys.'); } };
void listen(new McpServer({ name: 'tables', version: '1.0.0' }), { auth, port: 0 });`);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(`${line}main\\.ts:3:\\d+ {2}No keys\\.\n$`),
    });
  });

  it('with the error of a hook, after the hooks that have begun are closed', async () => {
    const { code, stderr } = await start(FAILING);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(`${line}main\\.ts:4:\\d+ {2}No table\\.\n${line}closed\n$`),
    });
  });
});
