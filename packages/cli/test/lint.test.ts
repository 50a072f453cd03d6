import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createProject, DECORUM, GREETER, type Project, ROOT } from './project.js';

const SHOP = `
import { Describe, McpServer, Tool } from '@decorum/core';
import { IsEmail, IsString, ValidateNested, IsOptional } from 'class-validator';
import { Type } from 'class-transformer';

class Folder {
  @Describe('Its name') @IsString() name!: string;
  @Describe('What is inside') @IsOptional() @ValidateNested() @Type(() => Folder) inside?: Folder;
}
class Query {
  @Describe('Who pays') @IsEmail() payer!: string;
}

class Shop {
  @Tool({ name: 'shop.search', description: 'Searches invoices' })
  search({ payer }: Query) {
    return payer;
  }

  @Tool({ description: 'Lists folders', access: () => false })
  folders({ name }: Folder) {
    return name;
  }
}

process.stdout.write('to be kept out of the report\\n');
export const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] });
`;

let project: Project;
beforeEach(() => {
  project = createProject({ 'package.json': { type: 'module' }, 'src/main.ts': SHOP });
});
afterEach(() => project.remove());

describe('decorum lint', () => {
  it('says what clients refuse, why, where that is said and what to change, and exits with 1', async () => {
    const { code, stdout } = await project.decorum(['lint']);
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    expect(lines).toContain(
      "claude       shop.search: the name is refused: it must match ^[a-zA-Z0-9_-]{1,64}$ (https://github.com/docker/mcp-gateway/issues/228) → set the tool's `name` to one like `search_invoices`",
    );
    expect(lines).toContainEqual(expect.stringMatching(/^gemini {7}shop\.search input\.payer: warning: .*`email`/));
    expect(lines.at(-1)).toMatch(/^\d+ errors, \d+ warnings {3}2 tools, about \d+ tokens$/);
    expect(stdout).not.toContain('kept out');
  });

  it('ends with a schema that contains itself', async () => {
    const { code, stdout } = await project.decorum(['lint', '--client', 'gemini', '--json']);
    expect(code).toBe(1);
    const findings = JSON.parse(stdout) as { rule: string; member: string }[];
    expect(findings.find(({ rule }) => rule === 'gemini-circle')).toEqual({
      client: 'gemini',
      rule: 'gemini-circle',
      member: 'folders',
      path: '',
      severity: 'error',
      why: expect.stringContaining('contains itself'),
      fix: expect.any(String),
      source: expect.stringMatching(/^https:/),
    });
  });

  it('applies only the rules of the clients that are named', async () => {
    const { code, stdout } = await project.decorum(['lint', '--client', 'cursor', '--client', 'windsurf', '--json']);
    expect({ code, findings: JSON.parse(stdout) as unknown }).toEqual({ code: 0, findings: [] });
  });

  it('exits with 0 for warnings alone', async () => {
    project.write({ 'src/main.ts': GREETER.replace('export class', 'export default class') });
    const { code, stdout } = await project.decorum(['lint']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^all .*greet input\.name: warning: .*\n0 errors, 1 warning {3}1 tool, about \d+ tokens\n$/,
      ),
    });
  });

  it('has nothing to say of a server without members', async () => {
    const empty = `import { McpServer } from '@decorum/core';\nexport const server = new McpServer({ name: 'empty', version: '1.0.0' });`;
    project.write({ 'src/main.ts': empty });
    const { code, stdout } = await project.decorum(['lint']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '0 errors, 0 warnings   0 tools, about 0 tokens\n' });
  });

  it('prints ten lines for a rule, and counts the rest, for 5,000 tools', async () => {
    const tools = `import { McpServer, NoInput } from '@decorum/core';
      export const server = new McpServer({ name: 'large', version: '1.0.0' });
      for (let at = 0; at < 5000; at += 1) server.addTool({ name: 'a.' + at, description: 'Tool ' + at, input: NoInput }, () => 'done');`;
    project.write({ 'src/main.ts': tools });
    const { code, stdout } = await project.decorum(['lint', '--client', 'openai']);
    const lines = stdout.trimEnd().split('\n');
    expect({ code, names: lines.filter((line) => line.includes('the name is refused')).length }).toEqual({
      code: 1,
      names: 10,
    });
    expect(stdout).toContain('… and 4990 more of the same. --json lists all\n');
    expect(stdout).toContain('large tools: has 5000 tools, more than 128');
  });

  it('measures no list of which search shows only a few tools', async () => {
    const tools = `import { McpServer, NoInput } from '@decorum/core';
      import { search } from '@decorum/search';
      export const server = new McpServer({ name: 'large', version: '1.0.0', plugins: [search({ prefix: 'shop' })] });
      for (let at = 0; at < 200; at += 1) server.addTool({ name: 'a' + at, description: 'Tool ' + at, input: NoInput }, () => 'done');`;
    project.write({ 'src/main.ts': tools });
    const { code, stdout } = await project.decorum(['lint', '--client', 'openai']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/ 200 tools, .* tokens, if all were listed\n$/),
    });
  });

  it.each(['weather', 'memory', 'filesystem'])('finds nothing in the example %s', async (name) => {
    const args = [DECORUM, 'lint', '--json', join(ROOT, 'examples', name, 'src/main.ts')];
    expect((await project.node(args)).stdout).toBe('[]\n');
  });

  it('names the mistake if the program fails to load', async () => {
    project.write({ 'src/main.ts': SHOP.replace("name: 'shop.search'", "name: 'no spaces'") });
    const failed = await project.decorum(['lint']);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect(failed.stderr).toMatch(/^src\/main\.ts:\d+:\d+ {2}.*Shop\.search/m);
    project.write({ 'src/main.ts': 'export const answer = 42;' });
    expect(await project.decorum(['lint'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^src\/main\.ts creates no server\. Export an McpServer/),
    });
    project.write({ 'src/main.ts': 'process.exit(7);' });
    expect((await project.decorum(['lint'])).stderr).toContain('src/main.ts ended with exit code 7');
  });

  it('refuses clients that it does not know', async () => {
    expect(await project.decorum(['lint', '--client', 'emacs'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'There are no rules for emacs. Pass one of all, claude, claude-code, cursor, gemini, openai, vscode, windsurf.\n',
    });
  });
});
