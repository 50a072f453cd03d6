import { join } from 'node:path';

import { connect, type TestClient } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createProject, type Project } from './project.js';

const PROGRAM = `
import { appendFileSync } from 'node:fs';
import { McpServer, NoInput, serveStdio, Tool, ToolError } from '@decorum/core';
import { fileTasks, tasks } from '@decorum/tasks';

class Jobs {
  onStart() {
    appendFileSync('started.txt', 'started');
  }

  @Tool({ description: 'Fails while BROKEN is set', task: 'optional', input: NoInput })
  async job(_input, ctx) {
    await ctx.once('effect', () => appendFileSync('effects.txt', 'effect\\n'));
    await ctx.sleep('rest', 100);
    if (process.env.BROKEN) throw new ToolError('It is broken.\\u001b[2J');
    return await ctx.confirm('Done?') ? 'yes' : 'no';
  }
}

const server = new McpServer({ name: 'jobs', version: '1.0.0', providers: [Jobs], plugins: [tasks({ store: fileTasks('data') })] });
await serveStdio(server);
`;
const SECRET = { DECORUM_SECRET: 'a secret of at least 32 characters' };

let project: Project;
beforeEach(() => {
  project = createProject({ 'package.json': { type: 'module' }, 'src/main.ts': PROGRAM });
});
afterEach(() => project.remove());

const run = (...args: string[]) => project.decorum(['tasks', ...args], { env: SECRET });

async function serve(env: Readonly<Record<string, string>>): Promise<TestClient> {
  const main = join(project.folder, 'src/main.ts');
  const args = ['--import', '@decorum/cli/register', main];
  const program = { command: process.execPath, args, cwd: project.folder, env: { ...SECRET, ...env } };
  return await connect(program, { revision: '2026-07-28', onElicit: () => ({ action: 'accept' }) });
}

/** Starts a task, and waits until it is in a status. */
async function startUntil(client: TestClient, status: string): Promise<string> {
  const { taskId } = await client.tasks.start('job');
  while ((await client.tasks.get(taskId)).status !== status) await new Promise((done) => setTimeout(done, 10));
  return taskId;
}

describe('decorum tasks', () => {
  it('lists and shows tasks while the server runs, and changes none', async () => {
    const client = await serve({});
    const id = await startUntil(client, 'input_required');
    const { stdout } = await run('list');
    expect(stdout).toMatch(new RegExp(`^ID .*\\n${id}  input_required  job  .*\\n$`));
    const shown = JSON.parse((await run('show', id, '--json')).stdout) as object;
    expect(shown).toMatchObject({ taskId: id, effects: ['effect'], crashes: 0, inputRequests: expect.anything() });
    expect((await client.tasks.result(id)).content).toEqual([{ type: 'text', text: 'yes' }]);
    await client.close();
  });

  it('runs a failed task again, without what has succeeded in it', async () => {
    const broken = await serve({ BROKEN: '1' });
    const id = await startUntil(broken, 'completed');
    await broken.close();
    expect((await run('list')).stdout).toMatch(new RegExp(`${id}  failed  job `));
    expect((await run('show', id)).stdout).not.toContain('\u001b');
    expect(await run('retry', id)).toMatchObject({ code: 0, stderr: '' });
    const mended = await serve({});
    expect((await mended.tasks.result(id)).content).toEqual([{ type: 'text', text: 'yes' }]);
    await mended.close();
    const { stdout } = await project.node(['-p', "fs.readFileSync('effects.txt', 'utf8')"]);
    expect(stdout.trim()).toBe('effect');
    expect(await run('retry', id)).toMatchObject({ code: 1, stderr: 'The task is completed.\n' });
  });

  it('cancels a task, and starts nothing else of the program', async () => {
    const client = await serve({});
    const id = await startUntil(client, 'input_required');
    await client.close();
    expect(await run('cancel', id)).toMatchObject({ code: 0, stdout: 'Cancelled.\n' });
    expect((await run('list', '--json')).stdout).toContain('"cancelled"');
    const { stdout } = await project.node(['-p', "fs.readFileSync('started.txt', 'utf8')"]);
    expect(stdout.trim()).toBe('started');
  });

  it('says what is wrong', async () => {
    expect(await run('show', 'nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/data|There is no such task/),
    });
    expect(await run('show')).toMatchObject({ code: 2 });
    const unsealed = await project.decorum(['tasks', 'list'], { env: { DECORUM_SECRET: '' } });
    expect(unsealed).toMatchObject({ code: 1, stderr: expect.stringContaining('DECORUM_SECRET') });
    project.write({
      'src/main.ts': `import { McpServer } from '@decorum/core';\nexport const server = new McpServer({ name: 'x', version: '1' });`,
    });
    expect(await run('list')).toMatchObject({
      code: 1,
      stderr: 'src/main.ts has no server with the plugin `tasks()`.\n',
    });
  });
});
