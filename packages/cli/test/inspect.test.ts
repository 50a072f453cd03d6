import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { createProject, DECORUM, type Project, type Running } from './project.js';

const SERVER = `
import { ArrayOf, Completion, Describe, embedded, image, McpServer, NoInput, Prompt, Resource, Tool, ToolError, user } from '@decorum/core';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Max, Min, ValidateNested } from 'class-validator';
import { Type } from 'class-transformer';

class Place {
  @IsString() city!: string;
}
class Order {
  @IsInt() count!: number;
  @IsString() code!: string;
  @IsOptional() @IsBoolean() gift?: boolean;
  @IsOptional() @IsIn(['s', 'm', 'l']) size?: 's' | 'm' | 'l';
  @IsOptional() @ArrayOf(Number) days?: number[];
  @IsOptional() @ValidateNested() @Type(() => Place) place?: Place;
}
class Survey {
  @Describe('Grade') @IsInt() @Min(1) @Max(5) grade!: number;
  @IsIn(['yes', 'no']) again!: string;
  @IsOptional() @IsString() remark?: string;
}
class Topic {
  @IsString() topic!: string;
}

export class Shop extends McpServer {
  constructor() {
    super({ name: 'shop', version: '1.0.0', instructions: 'Buy\\u001b]0;owned\\u0007 here.' });
  }

  @Tool({ description: 'Orders\\u001b[2J something', aliases: ['buy'] })
  async order(order: Order, ctx: any) {
    await ctx.progress(1, 2, 'packing');
    return JSON.stringify(order);
  }

  @Tool({ description: 'Tells its key', input: NoInput, listed: false })
  key(_input: unknown, ctx: any) {
    return String(ctx.meta?.['dev.decorum/idempotency-key']);
  }

  @Tool({ description: 'Tells much', input: NoInput, listed: false })
  much() {
    return 'x'.repeat(5_000_000);
  }

  @Tool({ description: 'Fails', input: NoInput })
  fail() {
    throw new ToolError('Sold\\u001b[31m out.');
  }

  @Tool({ description: 'Waits', input: NoInput })
  async wait(_input: unknown, ctx: any) {
    await ctx.progress(0, 1, 'waiting');
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    process.stderr.write('cancelled on the server\\n');
    return '';
  }

  @Tool({ description: 'Asks', input: NoInput })
  async survey(_input: unknown, ctx: any) {
    const { content } = await ctx.elicit(Survey, { message: 'How\\u001b[2J was it?' });
    const [root] = await ctx.roots().catch(() => []);
    return JSON.stringify([content, root?.uri]);
  }

  @Tool({ description: 'Asks the model', input: NoInput })
  async think(_input: unknown, ctx: any) {
    return (await ctx.sample({ messages: [user('What is it?')], maxTokens: 5 })).text;
  }

  @Tool({ description: 'Empties the shop', input: NoInput })
  async empty(_input: unknown, ctx: any) {
    return await ctx.confirm('Sure?');
  }

  @Tool({ description: 'Paints', input: NoInput })
  paint() {
    const data = Buffer.from('picture');
    return [image(data, 'image/png'), embedded({ uri: 'file:///../../.ssh/..%2fkey\\\\..\\\\id', data })];
  }

  @Tool({ description: 'Restocks', input: NoInput })
  async restock() {
    await this.notify.resourceUpdated('shop://hours');
    return 'done';
  }

  @Prompt({ description: 'Asks about a topic', aliases: ['demand'] })
  ask({ topic }: Topic) {
    return 'Tell me about ' + topic + '.';
  }

  @Completion({ for: 'ask', argument: 'topic' })
  topics(prefix: string) {
    return ['price', 'prize', 'stock'].filter((each) => each.startsWith(prefix));
  }

  @Resource('shop://hours', { description: 'When it is open' })
  hours() {
    return 'nine to five';
  }
}
`;

let project: Project;
beforeAll(() => {
  project = createProject({
    'package.json': { name: 'shop', type: 'module' },
    'src/main.ts': `${SERVER}\nexport const server = new Shop();\n`,
    // what it logs is not a message
    'src/http.ts': `${SERVER}\nimport { listen } from '@decorum/http';\nconsole.log('hello');\nconsole.log('listens on ' + (await listen(new Shop(), { port: Number(process.env.PORT) })).url);\n`,
    'src/mute.js': 'setInterval(() => {}, 1000);',
  });
});
afterAll(() => project.remove());

const inspect = async (...args: string[]) => await project.decorum(['inspect', ...args]);

const olderNode = [
  '--import',
  `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'22.18.0'}})`,
];

describe('decorum inspect', () => {
  it('shows what a server has, without the control characters in its texts', async () => {
    const { code, stdout, stderr } = await inspect();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^shop 1\.0\.0 {3}\d{4}-\d\d-\d\d {3}tools, prompts, resources, completions/);
    expect(stdout).toContain('\n\nBuy]0;owned here.\n\nTOOL');
    const row =
      'count:integer code:string gift?:boolean size?:s|m|l days?:number[] place?:object  Orders [2J something\n';
    expect(stdout).toContain(`order    ${row}`);
    expect(stdout).toMatch(/RESOURCE +TYPE +NAME\nshop:\/\/hours/);
    const { stdout: json } = await inspect('src/http.ts', '--json');
    expect(JSON.parse(json)).toMatchObject({
      server: { name: 'shop' },
      tools: [
        { name: 'order' },
        { name: 'fail' },
        { name: 'wait' },
        ...Array.from({ length: 5 }, () => expect.anything()),
      ],
      prompts: [{ name: 'ask' }],
      resources: [{ uri: 'shop://hours' }],
      resourceTemplates: [],
    });
  });

  it('reads arguments by the schema of the tool, and prints progress on stderr', async () => {
    const args = ['count=2', 'code=007', 'gift=true', 'size=m', 'days=1', 'days=2', 'place.city=Oslo'];
    const { code, stdout, stderr } = await inspect('call', 'order', ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '1/2 packing\n' });
    const expected = { count: 2, code: '007', gift: true, size: 'm', days: [1, 2], place: { city: 'Oslo' } };
    expect(JSON.parse(stdout)).toEqual(expected);
    const input = JSON.stringify({ count: 1, code: 'x' });
    const piped = await project.decorum(['inspect', 'call', 'order', 'code:="y"', '--args', '-'], { input });
    expect(JSON.parse(piped.stdout)).toEqual({ count: 1, code: 'y' });
  });

  it.each([
    [['call', 'order', 'gift=true'], 'Missing: count (integer), code (string). Write count=… code=….\n'],
    [['call', 'order', 'count=two', 'code=x'], 'count is of type integer, so it can\'t be "two".\n'],
    [['call', 'order', 'cuont=1'], 'There is no argument cuont. Known: count, code, gift, size, days, place.\n'],
    [
      ['call', 'odrer'],
      'Unknown tool: odrer. The server lists: order, fail, wait, survey, think, empty, paint, restock.\n',
    ],
    [['get', 'aks', 'topic=price'], 'Unknown prompt: aks. The server lists: ask.\n'],
  ])('%j is wrong usage', async (args, stderr) => {
    expect(await inspect(...args)).toEqual({ code: 2, stdout: '', stderr });
  });

  it('calls members by names that are on no list, and reads their arguments as text', async () => {
    const { code, stdout } = await inspect('call', 'buy', 'count:=2', 'code=007');
    expect([code, JSON.parse(stdout)]).toEqual([0, { count: 2, code: '007' }]);
    const keyed = await inspect('call', 'key', '--idempotency-key', 'order-7');
    expect(keyed.stdout).toBe('order-7\n');
    expect(await inspect('get', 'demand', 'topic=price')).toMatchObject({ stdout: 'user: Tell me about price.\n' });
  });

  it('prints results of many megabytes', async () => {
    const { code, stdout } = await inspect('call', 'much');
    expect([code, stdout.length]).toEqual([0, 5_000_001]);
  });

  it('reads resources, gets prompts, and completes', async () => {
    const asked = [
      ['read', 'shop://hours'],
      ['get', 'ask', 'topic=price'],
      ['complete', 'ask', 'topic=pri'],
    ];
    const ended = await Promise.all(asked.map(async (args) => await inspect(...args)));
    expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, 'nine to five\n'],
      [0, 'user: Tell me about price.\n'],
      [0, 'price\nprize\n'],
    ]);
  });

  it('has an exit code for each failure', async () => {
    expect(await inspect('call', 'fail')).toEqual({ code: 5, stdout: '', stderr: 'Sold[31m out.\n' });
    const { code, stdout } = await inspect('call', 'fail', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([5, { isError: true }]);
    expect(stdout).not.toContain('\u001b');
    expect(await inspect('read', 'shop://nothing')).toMatchObject({ code: 6, stdout: '' });
    expect(await inspect('http://127.0.0.1:9/mcp')).toMatchObject({ code: 4, stdout: '' });
    expect(await project.node([...olderNode, DECORUM, 'inspect', '--ui'])).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('The inspector needs Node.js 22.19 or later, and this is 22.18.0.'),
    });
    expect(await inspect('--timeout', '0.5', '--', process.execPath, 'src/mute.js')).toMatchObject({ code: 8 });
  });

  it('cancels the call on the server when it is interrupted', async () => {
    const running: Running = project.start(['inspect', 'call', 'wait']);
    await running.printed(/waiting/);
    running.child.kill('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toContain('cancelled on the server\n');
  });

  it('answers questions by --answer, in order, and fails without', async () => {
    const answers = ['--answer', '{"grade":4,"again":"yes"}', '--root', '.'];
    const { code, stdout } = await inspect('call', 'survey', ...answers);
    expect([code, JSON.parse(stdout)]).toEqual([0, [{ grade: 4, again: 'yes' }, pathToFileURL(project.folder).href]]);
    expect(await inspect('call', 'think', '--answer', 'A shop')).toMatchObject({ code: 0, stdout: 'A shop\n' });
    expect(await inspect('call', 'survey')).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'The server asks: How[2J was it?\nPass --answer \'{"grade":"integer","again":"yes|no","remark":"string"}\', or --answer decline.\n',
    });
    const unconfirmed = await inspect('call', 'empty');
    expect(unconfirmed).toMatchObject({
      code: 2,
      stderr: 'The server asks: Sure?\nPass --answer accept, or --answer decline.\n',
    });
    expect(await inspect('call', 'empty', '--answer', 'accept')).toMatchObject({ code: 0, stdout: 'true\n' });
  });

  it('asks on the terminal until the answers fit the form', async () => {
    const isTerminal = 'data:text/javascript,process.stdin.isTTY=process.stderr.isTTY=true';
    const args = ['--import', isTerminal, DECORUM, 'inspect', 'call', 'survey'];
    const { code, stdout, stderr } = await project.node(args, { input: '6\n5\nmaybe\nno\n\n' });
    expect([code, stdout]).toEqual([0, '[{"grade":5,"again":"no"},null]\n']);
    expect(stderr).toContain('The server asks: How[2J was it?\n');
    expect(stderr).toContain('grade must be at most 5.\n');
    expect(stderr).toContain('again is one of yes, no, so it can\'t be "maybe".\n');
  });

  it('saves images and bytes, overwrites nothing, and leaves the folder to the user', async () => {
    const first = await inspect('call', 'paint', '--save', 'media/');
    expect(first).toMatchObject({ code: 0, stderr: 'Saved media/image.png, media/id.bin\n' });
    expect(await inspect('call', 'paint', '--save', 'media')).toMatchObject({
      stderr: 'Saved media/image-2.png, media/id-2.bin\n',
    });
    expect(readFileSync(join(project.folder, 'media/image-2.png'), 'utf8')).toBe('picture');
  });

  it('prints changes until it is interrupted', async () => {
    const server = project.start(['start', 'src/http.ts']);
    const [, url = ''] = await server.printed(/listens on (.*)/);
    const running = project.start(['inspect', url, 'listen', '--uri', 'shop://hours']);
    await running.printed(/Listening/);
    await inspect(url, 'call', 'restock');
    await running.printed(/resources\/updated shop:\/\/hours\n/);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 0 });
  });
});
