import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CommandFailure } from 'create-decorum';

import { planAddition } from '../src/add/add.js';
import type { Kind } from '../src/add/names.js';
import { writeFiles } from '../src/add/write-files.js';
import { DECORUM, type Ended, runNode } from './project.js';

const HOME = process.cwd();
let folder = '';
beforeEach(() => {
  // nothing is installed here
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-add-')));
  process.chdir(folder);
  write('package.json', '{ "type": "module", "devDependencies": { "vitest": "^4.0.0" } }');
});
afterEach(() => {
  process.chdir(HOME);
  rmSync(folder, { recursive: true });
});

function write(file: string, ...lines: string[]): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), lines.map((line) => `${line}\n`).join(''));
}

const clock = (text: string): void => write('src/clock.ts', text);
const trips = (text: string): void => write('src/trips.ts', text);
const main = (text: string): void => write('src/main.ts', text);

const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

/** The text of all files in the folder. */
function everything(): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(join(folder, file)).isFile(),
  );
  return Object.fromEntries(files.sort().map((file) => [file, read(file)]));
}

/** Does what `decorum add` does, in this process: starting one for each test would take most of the time. */
async function add(args: string): Promise<Ended> {
  const [command = '', to] = args.split(' --to ');
  const [, kind, name = ''] = /^(\w+) (.*)$/.exec(command) ?? [];
  try {
    const { changes, report } = await planAddition({ kind: kind as Kind, name, to });
    writeFiles(changes);
    return { code: 0, stdout: `${report.join('\n')}\n`, stderr: '' };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { code: error.exitCode, stdout: '', stderr: `${error.message}\n` };
  }
}

/** Adds a member, and resolves with the report. */
async function adds(args: string): Promise<string> {
  const { code, stdout, stderr } = await add(args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** Runs `decorum add` in a project without installed packages. */
async function run(...args: readonly string[]): Promise<Ended> {
  // pnpm's scripts list packages of this repository in NODE_PATH
  return runNode([DECORUM, 'add', ...args], { cwd: folder, env: { NODE_PATH: '' } });
}

/** Expects a failure that writes nothing. */
async function expectRefusal(args: string, code: number, ...lines: (string | RegExp)[]): Promise<void> {
  const before = everything();
  const ended = await add(args);
  for (const line of lines) expect(ended.stderr).toMatch(line);
  expect(ended).toMatchObject({ code, stdout: '' });
  expect(everything()).toEqual(before);
}

const CLOCK = [
  "import { Tool } from '@decorum/core';",
  '',
  'export class Clock {',
  '  @Tool() now() {',
  "    return 'noon';",
  '  }',
  '}',
];

describe('decorum add refuses what exists', () => {
  it('a member of the class, also after adding it', async () => {
    write('src/clock.ts', ...CLOCK);
    await expectRefusal('tool now', 1, 'src/clock.ts:4  Clock.now exists already. Nothing was written.');
    await adds('tool get-alarm');
    await expectRefusal('tool get-alarm', 1, /^src\/clock\.ts:\d+ {2}Clock\.getAlarm exists already/);
    await expectRefusal('prompt getAlarm', 1, /^src\/clock\.ts:\d+ {2}Clock\.getAlarm exists already/);
  });

  it('a member with the same name for clients, or the same URI', async () => {
    clock(`import { Resource, Tool } from '@decorum/core';
export class Clock {
  @Tool({ name: 'time-now' }) now() {}
  @Resource('zone://{id}') where() {}
}`);
    await expectRefusal('tool time-now', 1, 'src/clock.ts:3  Clock.now exists already');
    await expectRefusal('resource zone', 1, 'src/clock.ts:4  Clock.where exists already');
  });

  it('a field, an accessor, a parameter property, and an inherited method', async () => {
    write('src/base.ts', 'export class Base {', '  wind() {}', '}');
    clock(`import { Tool } from '@decorum/core';
import { Base } from './base.js';
export class Clock extends Base {
  private hands = 2;
  constructor(readonly zone: string) { super(); }
  get hour() { return this.hands; }
  @Tool() now() {}
}`);
    await expectRefusal('tool hands', 1, 'src/clock.ts:4  Clock.hands exists already');
    await expectRefusal('tool zone', 1, 'src/clock.ts:5  Clock.zone exists already');
    await expectRefusal('tool hour', 1, 'src/clock.ts:6  Clock.hour exists already');
    await expectRefusal('tool wind', 1, 'src/base.ts:2  Base.wind exists already');
  });

  it('a tool of another class, unless a prefix or a second server tells them apart', async () => {
    write('src/clock.ts', ...CLOCK);
    write(
      'src/sundial.ts',
      `import { Tool } from '@decorum/core';
export class Sundial {
  @Tool() dawn() {}
}`,
    );
    await expectRefusal('tool now --to src/sundial.ts', 1, 'src/clock.ts:4  The tool now exists already in Clock');
    main(`import { McpServer } from '@decorum/core';
import { Clock } from './clock.js';
import { Sundial } from './sundial.js';
export const server = new McpServer({ name: 'x', version: '1', providers: [Clock, { provider: Sundial, prefix: 'sun_' }] });`);
    await adds('tool now --to src/sundial.ts');
  });

  it('a class, a type or an import with the name of the DTO', async () => {
    write('src/clock.ts', 'interface AlarmInput {}', ...CLOCK);
    await expectRefusal(
      'tool alarm',
      1,
      'src/clock.ts:1  AlarmInput exists already. Rename it, or choose another name',
    );
  });

  it('a second test with the same name, and overwrites none', async () => {
    write('src/clock.ts', ...CLOCK);
    write('test/alarm.test.ts', '// mine');
    const { code, stdout } = await add('tool alarm');
    expect({ code, mine: read('test/alarm.test.ts') }).toEqual({ code: 0, mine: '// mine\n' });
    expect(stdout).toContain('test/alarm-tool.test.ts:1  its test');
    write('test/bell.test.ts', '');
    write('test/bell-tool.test.ts', '');
    await expectRefusal('tool bell', 1, 'test/bell.test.ts:1 and test/bell-tool.test.ts:1  The test exists already.');
  });

  it('a completion of the same argument', async () => {
    clock(`import { Completion, Prompt } from '@decorum/core';
class Zone { zone!: string; hour!: string; }
export class Clock {
  @Prompt() plan({ zone }: Zone) { return zone; }
  @Completion({ for: ['plan'], argument: 'zone' })
  zones() { return []; }
}`);
    await expectRefusal('completion plan/zone', 1, 'src/clock.ts:6  Clock.zones completes zone already');
    await expectRefusal('completion zone', 1, 'src/clock.ts:6  Clock.zones completes zone already');
    await adds('completion plan');
    expect(read('src/clock.ts')).toContain("@Completion({ for: 'plan', argument: 'hour' })\n  planHour(");
    await expectRefusal('completion plan', 1, /Clock\.\w+ completes \w+ already/);
    await expectRefusal('completion anything', 2, 'Clock has no prompt or template with an argument to complete');
  });
});

describe('decorum add asks which class', () => {
  const SUNDIAL = [
    "import { Tool } from '@decorum/core';",
    'class Shadow {',
    '  @Tool() length() {}',
    '}',
    'export class Sundial {',
    '  @Tool() dawn() {}',
    '}',
  ];

  it('with the candidates, if there are several', async () => {
    write('src/clock.ts', ...CLOCK);
    write('src/sundial.ts', ...SUNDIAL);
    const list = '  src/clock.ts:3  Clock\n  src/sundial.ts:2  Shadow\n  src/sundial.ts:5  Sundial\n';
    await expectRefusal(
      'tool alarm',
      2,
      `There are several classes in src. Name one with --to:\n${list}`,
      'For example: --to src/clock.ts:3',
    );
    await expectRefusal('tool alarm --to src/sundial.ts', 2, 'src/sundial.ts:2  Shadow\n  src/sundial.ts:5  Sundial\n');
    await expectRefusal('tool alarm --to src/sundial.ts:1', 2, 'no class at this line');
    await adds('tool alarm --to src/sundial.ts:6');
    expect(read('src/sundial.ts')).toMatch(/dawn\(\) \{\}\n\n {2}@Tool\(/);
  });

  it('counts providers and servers without members, and no DTOs or tests', async () => {
    write('src/clock.ts', 'export class Clock {', '}');
    write(
      'src/dto.ts',
      `import { IsString } from 'class-validator';
export class Zone {
  @IsString() zone!: string;
}`,
    );
    write('src/clock.test.ts', ...CLOCK);
    main(`import { McpServer } from '@decorum/core';
import { Clock } from './clock.js';
const clock = new Clock();
export const server = new McpServer({ name: 'x', version: '1', providers: [clock] });`);
    await adds('tool alarm');
    write(
      'src/office.ts',
      `import { McpServer } from '@decorum/core';
export class Office extends McpServer {
}
export class Branch extends Office {
}`,
    );
    await expectRefusal(
      'tool bell',
      2,
      'src/clock.ts:8  Clock\n  src/office.ts:2  Office\n  src/office.ts:4  Branch\n',
    );
  });

  it('not counting the providers of a Nest module that have no members (#23)', async () => {
    write(
      'src/app.module.ts',
      `import { Module } from '@nestjs/common';
import { Clock, ClockApi } from './clock.js';
@Module({ providers: [Clock, ClockApi] })
export class AppModule {}`,
    );
    write('src/clock.ts', ...CLOCK, 'export class ClockApi {}');
    const stdout = expect.stringContaining('Clock.alarm');
    expect(await add('tool alarm')).toMatchObject({ code: 0, stdout, stderr: '' });
  });

  it('if there is none', async () => {
    write('src/dto.ts', 'export class Zone {', '}');
    await expectRefusal('tool alarm', 2, 'No class in src has decorated members', '--to src/FILE.ts');
    await adds('tool alarm --to src/dto.ts');
  });

  it('in a file outside of src as well', async () => {
    write('src/main.ts', 'export {};');
    write('lib/clock.ts', 'export class Zone { name = 1 }', ...CLOCK);
    await adds('tool alarm --to lib/clock.ts');
    expect(read('test/alarm.test.ts')).toContain("import { Clock } from '../lib/clock.js';");
  });

  it('if --to is no TypeScript file with a class', async () => {
    write('src/clock.ts', ...CLOCK);
    write('src/clock.js', '');
    write('src/main.ts', 'export {};');
    await expectRefusal('tool alarm --to src/nothing.ts', 2, '--to src/nothing.ts: there is no such file');
    await expectRefusal('tool alarm --to src', 2, '--to src is a folder');
    await expectRefusal('tool alarm --to src/clock.js', 2, 'is not a TypeScript file');
    await expectRefusal('tool alarm --to src/main.ts', 2, 'src/main.ts has no class');
  });
});

describe('decorum add names', () => {
  it.each(['größe', 'a b', 'a/b', '---', 'x'.repeat(129), ''])('refuses "%s"', async (name) => {
    write('src/clock.ts', ...CLOCK);
    await expectRefusal(`tool ${name}`, 2, `"${name}" can't be the name of a tool. A name has 1 to 128 characters`);
  });

  it.each([
    { name: 'get-alarm', method: 'getAlarm', dto: 'GetAlarmInput' },
    { name: 'get_alarm', method: 'getAlarm', dto: 'GetAlarmInput' },
    { name: 'GetHTTPAlarm', method: 'getHTTPAlarm', dto: 'GetHTTPAlarmInput' },
    { name: 'alarm.set', method: 'alarmSet', dto: 'AlarmSetInput' },
    { name: '2nd', method: 'tool2nd', dto: 'Tool2ndInput' },
    { name: 'toString', method: 'toStringTool', dto: 'ToStringInput' },
    { name: 'onStart', method: 'onStartTool', dto: 'OnStartInput' },
    { name: '__proto__', method: 'proto', dto: 'ProtoInput' },
  ])('the method of $name $method', async ({ name, method, dto }) => {
    write('src/clock.ts', ...CLOCK);
    await adds(`tool ${name}`);
    expect(read('src/clock.ts')).toMatch(
      new RegExp(`@Tool\\(\\{\\s+name: '${name.replaceAll('.', '\\.')}',[^@]+ ${method}\\(\\{ query \\}: ${dto}\\)`),
    );
  });

  it.each(['getAlarm', 'delete', 'default'])('the method of %s like the tool', async (name) => {
    write('src/clock.ts', ...CLOCK);
    await adds(`tool ${name}`);
    expect(read('src/clock.ts')).toMatch(new RegExp(`@Tool\\(\\{ description[^@]+ ${name}\\(`));
  });

  it('no method like one of McpServer', async () => {
    write('src/clock.ts', "import { McpServer } from '@decorum/core';", 'export class Clock extends McpServer {', '}');
    await adds('tool close');
    expect(read('src/clock.ts')).toMatch(/name: 'close',[^@]+ closeTool\(/);
  });
});

describe('decorum add completion', () => {
  const TRIPS = [
    "import { Prompt, Resource } from '@decorum/core';",
    "import { Place } from './place.js';",
    'class Trip extends Place { days!: number; }',
    'export class Trips {',
    "  @Prompt({ name: 'pack-up' }) pack({ city }: Trip) { return city; }",
    "  @Resource('weather://{city}/{+day}') weather({ city }: Place) { return city; }",
    "  @Resource('weather://now') now() { return 'sun'; }",
    '}',
  ];

  it.each([
    { name: 'city', text: "{ for: ['pack', 'weather'], argument: 'city' })\n  city(", test: 'pack-city' },
    { name: 'pack-up/city', text: "{ for: 'pack', argument: 'city' })\n  packCity(", test: 'pack-city' },
    { name: 'pack.days', text: "{ for: 'pack', argument: 'days' })\n  packDays(", test: 'pack-days' },
    { name: 'weather:day', text: "{ for: 'weather', argument: 'day' })\n  weatherDay(", test: 'weather-day' },
  ])('reads "$name"', async ({ name, text, test }) => {
    write('src/place.ts', 'export class Place { city!: string; }');
    write('src/trips.ts', ...TRIPS);
    await adds(`completion ${name}`);
    expect(read('src/trips.ts')).toContain(`@Completion(${text}`);
    expect(Object.keys(everything())).toContain(`test/${test}.test.ts`);
  });

  it('takes another name as that of the method, if there is one argument to complete', async () => {
    trips(`import { Prompt, Resource } from '@decorum/core';
class Place { city!: string; }
export class Trips {
  @Prompt() pack({ city }: Place) { return city; }
  @Resource('weather://{city}') weather({ city }: Place) { return city; }
}`);
    await expectRefusal('completion pack/days', 2, '"pack/days" doesn\'t say which argument');
    await expectRefusal('completion weather-2!', 2, 'src/trips.ts:4  pack/city\n  src/trips.ts:5  weather/city\n');
    await expectRefusal('completion constructor', 2, 'which argument');
    const { code, stdout } = await add('completion known-cities');
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/^src\/trips\.ts:\d+ {2}Trips\.knownCities, which completes city of pack, weather\n/);
    await expectRefusal('completion pack', 1, /^src\/trips\.ts:\d+ {2}Trips\.knownCities completes city already/);
  });

  it('lists the arguments if the name means none or several', async () => {
    write('src/place.ts', 'export class Place { city!: string; }');
    write('src/trips.ts', ...TRIPS);
    const all = ['src/trips.ts:5  pack-up/days', 'pack-up/city', 'weather/city', 'src/trips.ts:6  weather/day'];
    for (const name of ['nothing', 'pack-up/nothing']) {
      await expectRefusal(`completion ${name}`, 2, `"${name}" doesn't say which argument`, ...all);
    }
    await expectRefusal('completion pack-up', 2, /pack-up\/days\n {2}src\/trips\.ts:5 {2}pack-up\/city\n$/);
    write('src/trips.ts', ...CLOCK);
    await expectRefusal('completion city', 2, 'Clock has no prompt or template', 'decorum add prompt NAME');
  });
});

describe('decorum add tells', () => {
  it('where a syntax error is', async () => {
    write('src/clock.ts', ...CLOCK.slice(0, 3), '  @Tool( now() {', '}');
    await expectRefusal('tool alarm --to src/clock.ts', 1, /^src\/clock\.ts:4:\d+ {2}Expected/);
    await expectRefusal('tool alarm', 1, /^src\/clock\.ts:4:\d+ {2}Expected/);
    write('src/sundial.ts', "import { Clock } from './clock.js';", 'export class Sundial extends Clock {', '}');
    await expectRefusal('tool alarm', 1, /^src\/clock\.ts:4:\d+ {2}Expected/);
    await adds('tool alarm --to src/sundial.ts');
  });

  it('that a file is not UTF-8, and what is wrong with the tsconfig or the package.json', async () => {
    write('src/clock.ts', ...CLOCK);
    writeFileSync(join(folder, 'src/latin.ts'), Buffer.from([0x2f, 0x2f, 0xe9]));
    await expectRefusal('tool alarm --to src/latin.ts', 1, 'src/latin.ts is not UTF-8');
    rmSync(join(folder, 'src/latin.ts'));
    write('tsconfig.json', '{ "extends": "./nothing.json" }');
    await expectRefusal('tool alarm', 1, 'The tsconfig.json of src/clock.ts', 'nothing.json');
    write('package.json', '{');
    await expectRefusal('tool alarm', 1, 'package.json is not valid JSON');
  });

  it('that a file cannot be written, and writes none', async () => {
    write('src/clock.ts', ...CLOCK);
    write('test', 'a file where the folder of tests would be');
    await expectRefusal('tool alarm', 3, "test/alarm.test.ts can't be written", 'Nothing was written.');
  });

  it('that experimentalDecorators cannot decorate class expressions', async () => {
    write('src/clock.ts', 'export const Clock = class {', '};');
    await expectRefusal('tool alarm --to src/clock.ts', 1, 'src/clock.ts:1  Clock is a class expression');
    write('tsconfig.json', '{ "compilerOptions": { "target": "es2022" } }');
    await adds('tool alarm --to src/clock.ts');
  });

  it('what to install', async () => {
    write('src/clock.ts', ...CLOCK);
    const { stdout } = await run('tool', 'alarm');
    expect(stdout).toBe(
      [
        'src/clock.ts:14  Clock.alarm',
        'test/alarm.test.ts:1  its test: npx vitest run test/alarm.test.ts',
        'To install: npm install @decorum/core class-validator class-transformer',
        'To install: npm install -D @decorum/testing',
        '',
      ].join('\n'),
    );
  });

  it('that Vitest needs another Vite for standard decorators', async () => {
    write('src/clock.ts', ...CLOCK);
    write('tsconfig.json', '{ "compilerOptions": { "target": "es2022" } }');
    expect(await adds('tool alarm')).toContain('npm install -D vite@7\n');
    write('package.json', '{ "devDependencies": { "vitest": "^4.0.0", "vite": "^7.1.0" } }');
    expect(await adds('tool bell')).not.toContain('vite@7');
  });

  it('how to run a test in another folder, and what its workspace has', async () => {
    write('package.json', '{ "devDependencies": { "jest": "^30.0.0", "@types/jest": "^30.0.0" } }');
    write('packages/clock/package.json', '{ "type": "module" }');
    write('packages/clock/src/clock.ts', ...CLOCK);
    const { stdout } = await add('tool alarm --to packages/clock/src/clock.ts');
    expect(stdout).toContain('its test: cd packages/clock && npx jest test/alarm.test.ts\n');
    expect(read('packages/clock/test/alarm.test.ts')).toMatch(/^import \{ McpServer \}[^]+\nit\('/);
    expect(read('packages/clock/test/alarm.test.ts')).not.toContain('@jest/globals');
  });

  it('why there is no test of a class whose file listens', async () => {
    write('src/clock.ts', ...CLOCK, "import { listen } from '@decorum/http';", 'await listen(server);');
    const { code, stdout } = await add('tool alarm');
    expect(code).toBe(0);
    expect(stdout).toContain('No test: importing this file starts its server. Move the class to a file of its own.\n');
    expect(Object.keys(everything())).toEqual(['package.json', 'src/clock.ts']);
  });

  it.each([
    {
      by: 'a function',
      program:
        "import { listen } from '@decorum/http';\nasync function main() {\n  await listen(server);\n}\nvoid main();",
    },
    {
      by: 'an arrow function and a namespace',
      program:
        "import * as http from '@decorum/http';\nconst run = async () => http.listen(server);\nrun().catch(() => {});",
    },
    { by: 'a function called in place', program: '(async () => {\n  await app.listen({ port: 3000 });\n})();' },
    { by: 'a callback', program: 'ready().then(() => app.listen(3000));' },
  ])('that importing a file would serve it by $by', async ({ program }) => {
    write('src/clock.ts', ...CLOCK, program);
    expect(await adds('tool alarm')).toContain('No test: importing this file starts its server');
  });

  it.each([
    {
      by: 'exporting a function',
      program: "import { listen } from '@decorum/http';\nexport const start = () => listen(server);",
    },
    {
      by: 'a condition',
      program: "import { serveStdio } from '@decorum/core';\nif (import.meta.main) await serveStdio(server);",
    },
    { by: 'a class', program: 'class Server {\n  start() {\n    app.listen(3000);\n  }\n}' },
  ])('nothing about serving if importing a file is safe by $by', async ({ program }) => {
    write('src/clock.ts', ...CLOCK, program);
    expect(await adds('tool alarm')).toContain('test/alarm.test.ts:1  its test');
  });

  it('a program over stdio to be tested as one', async () => {
    write(
      'src/clock.ts',
      ...CLOCK,
      "import { serveStdio } from '@decorum/core';",
      'const main = async () => {',
      '  await serveStdio(server);',
      '};',
      'await main();',
    );
    expect(await adds('tool alarm')).toContain('npm install -D @decorum/testing @decorum/cli\n');
    const start = "connect({ command: 'node', args: ['--import', '@decorum/cli/register', 'src/clock.ts'] })";
    expect(read('test/alarm.test.ts')).toContain(start);
  });

  it('how to use it', async () => {
    write('src/clock.ts', ...CLOCK);
    const ended = async (...args: string[]) => {
      const { code, stderr } = await run(...args);
      return `${code}: ${stderr}`;
    };
    expect(await ended('toll', 'alarm')).toMatch(/^2: [^]*Allowed choices are tool, resource, prompt, completion/);
    expect(await ended('tool')).toMatch(/^2: [^]*missing required argument 'name'/);
    expect(await ended('tool', 'alarm', '--into', 'x')).toMatch(/^2: [^]*unknown option '--into'/);
    expect(await ended('tool', '--', '---')).toMatch(/^2: "---" can't be the name of a tool\. [^\n]+\n$/);
  });
});

describe('decorum add reads the dialect', () => {
  const alarm = async (): Promise<string> => {
    write('src/clock.ts', ...CLOCK);
    rmSync(join(folder, 'test'), { recursive: true, force: true });
    await adds('tool alarm');
    return read('src/clock.ts');
  };
  const flags = '"experimentalDecorators": true, "emitDecoratorMetadata": true';

  it('from the tsconfig, with extends and references', async () => {
    expect(await alarm()).toMatch(/@IsString\(\) query[^]+@Tool\(\{ description: '[^']+' \}\)/);
    write('tsconfig.json', '{ "compilerOptions": { "target": "es2022" } }');
    expect(await alarm()).toMatch(/@Schema\(\{ type: 'string' \}\) query[^]+input: AlarmInput/);
    write('tsconfig.json', '{ "compilerOptions": { "experimentalDecorators": true } }');
    expect(await alarm()).toMatch(/@IsString\(\) query[^]+input: AlarmInput/);
    write('base.json', `{ "compilerOptions": { ${flags} } }`);
    write('tsconfig.json', '{ "extends": "./base.json" }');
    expect(await alarm()).not.toContain('input:');
    write('tsconfig.json', '{ "files": [], "references": [{ "path": "./base.json" }] }');
    expect(await alarm()).not.toContain('input:');
  });

  it('from the tools that emit no types', async () => {
    write('package.json', '{ "devDependencies": { "tsx": "^4.0.0" } }');
    expect(await alarm()).toContain('input: AlarmInput');
    write('package.json', '{ "devDependencies": { "vitest": "^3.2.0" } }');
    expect(await alarm()).toContain('input: AlarmInput');
  });
});
