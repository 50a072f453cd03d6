import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createProject, type Project } from './project.js';

const shop = (charge: string, end = 'export { server };') => `
import { McpServer, serveStdio, Tool, ToolError } from '@decorum/core';
import { IsNumber } from 'class-validator';

class Order {
  @IsNumber() amount!: number;
}

class Shop {
  @Tool({ description: 'Charges a card' })
  async charge({ amount }: Order, ctx: any) {
    await ctx.once('pay', () => { throw new Error('it would pay again'); });
    ${charge}
  }
}

console.log('kept out of the report');
const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] });
${end}
`;

const BROKEN = "if (amount > 9) throw new ToolError('The card is declined'); throw new TypeError('no amount');";

const RECORDING = {
  format: 1,
  at: '2026-11-28T00:00:00.000Z',
  decorum: '0.0.0',
  server: { name: 'shop', version: '1.0.0' },
  revision: '2025-11-25',
  era: 'stateful',
  transport: 'http',
  member: { kind: 'tool', name: 'charge' },
  method: 'tools/call',
  params: { name: 'charge', arguments: { amount: 12 } },
  effects: [['pay', 'receipt']],
  outcome: { status: 'tool-error', cause: 'expected', error: 'ToolError', message: 'Declined', milliseconds: 3 },
  redacted: 0,
};

const BUG = {
  ...RECORDING,
  params: { name: 'charge', arguments: { amount: 1 } },
  outcome: { status: 'tool-error', cause: 'bug', error: 'TypeError', milliseconds: 3 },
};

let project: Project;
beforeEach(() => {
  project = createProject({
    'package.json': { type: 'module' },
    'src/main.ts': shop(BROKEN),
    'recordings/declined.json': RECORDING,
    'recordings/bug.json': BUG,
    'recordings/notes.txt': 'no recording',
  });
});
afterEach(() => project.remove());

describe('decorum replay', () => {
  it('says that calls end as they did, without running their effects again, and exits with 0', async () => {
    const { code, stdout } = await project.decorum(['replay', 'recordings']);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'same     charge: bug: TypeError: no amount (recordings/bug.json)',
      'same     charge: expected: The card is declined (recordings/declined.json)',
      "2 recordings: 2 ended as recorded, 0 didn't",
    ]);
    expect(code).toBe(0);
  });

  it('says what is different with the code of today, and exits with 1', async () => {
    project.write({ 'src/main.ts': shop("return 'charged';") });
    const { code, stdout } = await project.decorum(['replay', 'recordings/bug.json']);
    const [line] = stdout.split('\n');
    expect(line).toBe(
      'differs  charge: status: tool-error → ok, cause: bug → none, error: TypeError → none (recordings/bug.json)',
    );
    expect(code).toBe(1);
  });

  it('opens no transport of the program, wherever it is, and prints JSON', async () => {
    project.write({ 'app.ts': shop(BROKEN, 'await serveStdio(server);') });
    const { code, stdout } = await project.decorum(['replay', 'recordings/declined.json', 'app.ts', '--json']);
    expect(JSON.parse(stdout)).toEqual([
      {
        file: 'recordings/declined.json',
        recorded: expect.objectContaining({ cause: 'expected', message: 'Declined' }),
        replayed: {
          status: 'tool-error',
          cause: 'expected',
          message: 'The card is declined',
          error: 'ToolError',
        },
        differences: [],
        failure: 'expected: The card is declined',
      },
    ]);
    expect(code).toBe(0);
  });

  it('stops waiting for a call that takes too long', async () => {
    project.write({ 'src/main.ts': shop('await new Promise(() => {});') });
    const { code, stdout } = await project.decorum(['replay', 'recordings/bug.json', '--timeout', '0.2']);
    expect(stdout).toMatch(/^differs {2}charge: status: tool-error → cancelled, cause: bug → cancelled/);
    expect(code).toBe(1);
  });

  it.each([
    ['what is not JSON', '{', "can't be replayed: it is not JSON"],
    ['what is no recording', '{"name":"shop"}', 'it is not a recording: "format" is missing'],
    ['a newer format', { ...RECORDING, format: 2, decorum: '9.0.0' }, 'format 2, by Decorum 9.0.0, and this version'],
    ['a recording that was cut', { ...RECORDING, cut: ['params'] }, 'it was cut: params did not fit'],
    [
      'another method',
      { ...RECORDING, method: 'initialize' },
      '"method" is "initialize", but must be one of tools/call',
    ],
    ['an unknown revision', { ...RECORDING, revision: '1999-01-01' }, '"revision" is 1999-01-01, but must be one of'],
    ['effects that are none', { ...RECORDING, effects: ['pay'] }, '"effects" has what is not a list of a key'],
    ['a caller without a name', { ...RECORDING, principal: { subject: '' } }, '"subject" of the principal is empty'],
  ])('refuses %s with 2, before the program runs', async (_what, content, says) => {
    project.write({ 'wrong.json': content, 'src/main.ts': 'throw new Error("it has run");' });
    const { code, stderr } = await project.decorum(['replay', 'wrong.json']);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('it has run');
    expect(code).toBe(2);
  });

  it.each([
    ['no recording', ['src/main.ts'], 'Name a recording'],
    ['two programs', ['recordings', 'src/main.ts', 'app.ts'], 'Pass one program'],
    ['a file that is missing', ['gone.json'], "gone.json can't be replayed: there is no such file."],
    ['an endless wait', ['recordings', '--timeout', '0'], 'It must be a number of seconds'],
  ])('refuses %s with 2', async (_what, args, says) => {
    const { code, stderr } = await project.decorum(['replay', ...args]);
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });
});
