// Mistakes that only the TypeScript source shows, and what `decorum dev` does on machines that lack what others have.
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { warningsOf as warningsAbout } from '../src/check/warnings.js';
import { CLOCK, createProject, type Project, ROOT, TSCONFIG } from './project.js';

// each command starts a compiler and two more processes, one after the other
jest.setTimeout(180_000);

let project: Project;
afterEach(() => project.remove());

const IMPORTS = `
import { Choices, Completion, Context, Describe, McpServer, NoInput, Nullable, Prompt, Resource, Tool } from '@decorum/core';
import { Type } from 'class-transformer';
import * as v from 'class-validator';
import { Allow, Equals, IsArray, IsEnum, IsIn, IsInt, IsOptional, IsString, Matches, ValidateNested } from 'class-validator';
`;
const TYPES = `
enum Unit { Metric = 'metric', Imperial = 'imperial' }
enum Level { Low, High }
enum Mixed { A = 'a', B = 1 }
const enum Fixed { On = 'on', Off = 'off' }
const DAYS = ['today', 'tomorrow'] as const;
type Day = (typeof DAYS)[number];
type Scale = 'celsius' | 'fahrenheit';
`;
const SERVER = `export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });`;
const USES = `class Weather { @Tool() forecast(query: Query) { return query; } }`;

const filesOf = (code: string, files: Readonly<Record<string, string | object>> = {}) => ({
  'package.json': { name: 'weather', version: '1.0.0', type: 'module' },
  'tsconfig.json': TSCONFIG,
  'src/main.ts': `${IMPORTS}${TYPES}${code}\n${SERVER}\n`,
  ...files,
});

/** The warnings about a program, without places. */
function warningsOf(...program: Parameters<typeof filesOf>): string[] {
  project = createProject(filesOf(...program));
  return warningsAbout([join(project.folder, 'src/main.ts')]).map(({ text }) => text);
}

const SETS: readonly [field: string, accepted: string, type: string, remedy: string][] = [
  ['@IsOptional() f?: Unit', 'any string', 'Unit', '@IsEnum(Unit)'],
  ['@IsString() f!: Unit', 'any string', 'Unit', '@IsEnum(Unit)'],
  ['@Allow() f!: Unit', 'any string', 'Unit', '@IsEnum(Unit)'],
  ['@Describe("The unit") @v.IsOptional() f?: Unit | null', 'any string', 'Unit', '@IsEnum(Unit)'],
  ['@IsInt() f: Level = Level.Low', 'any number', 'Level', '@IsEnum(Level)'],
  ['@Allow() f!: Mixed', 'any value', 'Mixed', '@IsEnum(Mixed)'],
  ['@IsString() f!: Fixed', 'any string', 'Fixed', '@IsIn([Fixed.On, Fixed.Off])'],
  [`@IsOptional() f?: 'a' | 'b'`, 'any string', `'a' | 'b'`, `@IsIn(['a', 'b'])`],
  ['@IsOptional() f?: 1 | 2 | -1 | undefined', 'any number', '1 | 2 | -1 | undefined', '@IsIn([1, 2, -1])'],
  ['@IsString() f!: Scale', 'any string', 'Scale', `@IsIn(['celsius', 'fahrenheit'])`],
  ['@IsString() f!: Day', 'any string', 'Day', '@IsIn(DAYS)'],
  [
    '@IsString() f!: Unit.Metric | Unit.Imperial',
    'any string',
    'Unit.Metric | Unit.Imperial',
    '@IsIn([Unit.Metric, Unit.Imperial])',
  ],
  ['@IsString({ each: true }) f!: Unit[]', 'a list of any strings', 'Unit', '@IsEnum(Unit, { each: true })'],
  [
    '@IsArray() @IsString({ each: true }) f!: readonly Scale[]',
    'a list of any strings',
    'Scale',
    `@IsIn(['celsius', 'fahrenheit'], { each: true })`,
  ],
  ['@IsInt({ each: true }) f!: Array<Level>', 'a list of any numbers', 'Level', '@IsEnum(Level, { each: true })'],
];

describe('decorum build, for a field that accepts more than its type', () => {
  it('warns of each kind of type, with the rule to add (#23)', async () => {
    const fields = SETS.map(([field], index) => `${field.replace(/\bf(?=[!?:])/, `f${index}`)};`).join('\n  ');
    expect(warningsOf(`class Query {\n  ${fields}\n}\n${USES}`)).toEqual(
      SETS.map(
        ([, accepted, type, remedy], index) =>
          `Query.f${index} accepts ${accepted}, because no rule restricts it to ${type}. Add ${remedy}.`,
      ),
    );
  });

  it('says nothing about fields that a rule may restrict (#23)', async () => {
    const query = `
      function Custom() { return v.IsIn(['metric', 'imperial']); }
      class Other { @IsOptional() unit?: Unit; }
      class Query {
        @IsEnum(Unit) a!: Unit;
        @IsIn(DAYS) b!: Day;
        @Matches(/^(?:metric|imperial)$/) c!: Unit;
        @Choices({ metric: 'Metric', imperial: 'Imperial' }) d!: Unit;
        @Custom() e!: Unit;
        @Equals('metric') f!: 'metric';
        @IsString() g!: string;
        @IsString() h!: Scale | (string & {});
        @IsEnum(Unit, { each: true }) i!: Unit[];
        @IsOptional() @v.IsEnum(Level) j?: Level;
      }
      ${USES} void Other;`;
    expect(warningsOf(query)).toEqual([]);
  });
});

describe('decorum build, for a served member', () => {
  it.each([
    [
      'private',
      '@Tool() private forecast() {}',
      'Weather.forecast is private for TypeScript only: @Tool serves it to clients. Remove `private`.',
    ],
    [
      'protected',
      `@Resource('weather://now') protected now() { return ''; }`,
      'Weather.now is protected for TypeScript only: @Resource serves it to clients. Remove `protected`.',
    ],
    [
      'private, in a namespace',
      '@decorum.Prompt() private ask() { return ""; }',
      'Weather.ask is private for TypeScript only: @Prompt serves it to clients. Remove `private`.',
    ],
    [
      'private, with another name for the decorator',
      `@Prompt() ask(query: Query) { return query.city; } @Complete({ for: 'ask', argument: 'city' }) private cities() { return []; }`,
      'Weather.cities is private for TypeScript only: @Completion serves it to clients. Remove `private`.',
    ],
    [
      'private, with a decorator that another file exports',
      '@Again() private again() {}',
      'Weather.again is private for TypeScript only: @Tool serves it to clients. Remove `private`.',
    ],
    [
      'called with an optional DTO',
      '@Tool() forecast(query?: Query) { return query; }',
      'Weather.forecast: the first parameter is optional, but handlers always receive an object, and clients must send region, city of Query. Decorate the fields that clients may omit with @IsOptional(), and make the parameter required.',
    ],
    [
      'called with a DTO or undefined',
      '@Tool({ input: Query }) forecast(this: Weather, query: Query | undefined) { return query; }',
      expect.stringContaining('clients must send region, city of Query.'),
    ],
  ])('warns if it is %s (#23)', async (_title, member, warning) => {
    const code = `
      import * as decorum from '@decorum/core';
      import { Completion as Complete } from '@decorum/core';
      import { Again } from './decorators.js';
      class Place { @IsString() city!: string; }
      class Query extends Place {
        @IsString() @Nullable() region!: string | null;
        @IsOptional() @IsString() a?: string;
        @IsInt() days = 3;
        @IsInt() limit: number;
        constructor() { super(); this.limit = 5; }
      }
      class Weather { @Tool() own() { void Again; void decorum; void Complete; } ${member} }`;
    expect(warningsOf(code, { 'src/decorators.ts': `export { Tool as Again } from '@decorum/core';` })).toEqual([
      warning,
    ]);
  });

  it('says nothing about other members (#23)', async () => {
    const code = `
      import { Tool as OtherTool } from './decorators.js';
      class Place { @IsString() city!: string; }
      class Query { @IsOptional() @IsString() city?: string; @v.ValidateIf(() => true) @IsString() region?: string; }
      class Weather {
        private units = 'metric';
        @OtherTool() private forecast() { return this.units; }
        @OtherTool() alerts(query?: Place) { return query; }
        @Tool() own(query?: Query) { return this.forecast() + String(query); }
        @Resource('weather://now') now(_?: NoInput, context?: Context) { return String(context !== undefined); }
        @Prompt() ask() { return ''; }
        private plain(query?: Place) { return query; }
        protected start() { return this.plain(); }
      }`;
    const decorators = 'export const Tool = () => (_target: object, _key: string) => {};';
    expect(warningsOf(code, { 'src/decorators.ts': decorators })).toEqual([]);
  });

  it('says nothing about a parameter whose DTO has only fields that clients may omit (#23)', async () => {
    const code = `
      class Query {
        @Allow() note?: unknown;
        @Allow() @Describe('Anything') more?: unknown;
        @IsString() city!: string;
        @IsString() region!: string;
        constructor() { Object.assign(this, { city: 'Oslo' }); this['region'] = 'Oslo'; }
      }
      ${USES.replace('query:', 'query?:')}`;
    expect(warningsOf(code)).toEqual([]);
  });

  it('takes the first parameter without a decorator for the input, because a framework fills in others (#23)', async () => {
    const code = `
      const CurrentUser = () => (_target: object, _key: string, _at: number) => {};
      class User { @IsString() name!: string; @IsOptional() unit?: Unit; }
      class Query { @IsInt() days!: number; }
      // not served here, because only the framework can fill in the users
      export class Forecasts {
        @Tool() own(@CurrentUser() user?: User) { return user; }
        @Tool() forecast(@CurrentUser() user: User, query?: Query) { return [user, query]; }
      }
      class Weather { @Tool() now() {} }`;
    expect(warningsOf(code)).toEqual([
      expect.stringMatching(/^Forecasts\.forecast: .* clients must send days of Query\./),
    ]);
  });
});

const UNIT = `export enum Unit { Metric = 'metric', Imperial = 'imperial' }`;
const OPEN_UNIT = (field: string) =>
  `${field} accepts any string, because no rule restricts it to Unit. Add @IsEnum(Unit).`;
const DTO = (name: string, more = '') => `
  import { IsOptional, IsString, ValidateNested } from 'class-validator';
  import { Type } from 'class-transformer';
  import { Unit } from './units.js';
  ${more}
  export class ${name} { @IsString() city!: string; @IsOptional() unit?: Unit; `;

describe('decorum build looks for DTOs', () => {
  it.each([
    ['in base classes', 'Place.unit', 'class Query extends Place { @IsInt() days!: number; }'],
    ['in nested objects', 'Place.unit', 'class Query { @ValidateNested() @Type(() => Place) place!: Place; }'],
    ['in lists', 'Place.unit', 'class Query { @ValidateNested({ each: true }) @Type(() => Place) at!: Place[]; }'],
    ['in namespaces', 'Place.unit', 'class Query { @ValidateNested() @Type(() => dtos.Place) at!: dtos.Place; }'],
    ['behind an alias', 'Place.unit', 'type Query = Place;'],
    ['behind `export *`', 'Again.unit', 'class Query extends Again {}'],
    ['behind a default export', 'Main.unit', 'class Query extends Main {}'],
  ])('%s (#23)', async (_title, field, query) => {
    const code = `
      import * as dtos from './dtos.js';
      import { Again, Place } from './dtos.js';
      import Main from './dtos.js';
      void dtos; void Place; void Again; void Main;
      ${query}
      class Weather { @Tool({ input: ${query.startsWith('type') ? 'Place' : 'Query'} }) forecast(query: Query) { return query; } }`;
    const files = {
      'src/units.ts': UNIT,
      'src/dtos.ts': `${DTO('Place')} }\nexport { Main as default } from './main-dto.js';\nexport * from './again.js';`,
      'src/again.ts': `${DTO('Again')} }`,
      'src/main-dto.ts': `${DTO('Main')} }`,
    };
    expect(warningsOf(code, files)).toEqual([OPEN_UNIT(field)]);
  });
});

describe('decorum build, without running the program', () => {
  it.each([
    ['experimental decorators', TSCONFIG],
    [
      'standard decorators',
      {
        ...TSCONFIG,
        compilerOptions: {
          ...TSCONFIG.compilerOptions,
          experimentalDecorators: undefined,
          emitDecoratorMetadata: undefined,
        },
      },
    ],
  ])('warns of a decorated abstract method, with %s (#23)', async (_title, tsconfig) => {
    const main = `
      import { Tool } from '@decorum/core';
      export abstract class Forecasts {
        @Tool() protected abstract forecast(): string;
      }`;
    project = createProject({ 'package.json': { type: 'module' }, 'tsconfig.json': tsconfig, 'src/main.ts': main });
    expect(await project.decorum(['build'])).toEqual({
      code: 1,
      stdout: expect.stringContaining('TS1249'),
      stderr: expect.stringMatching(
        /^src\/main\.ts:4:36 {2}warning: Forecasts\.forecast is protected .*\nsrc\/main\.ts:4:36 {2}warning: Forecasts\.forecast is abstract, so @Tool .*\. Move the decorator .*\.\ntsc found errors/,
      ),
    });
  });

  it.each(['tsconfig.json', 'node_modules/typescript'])('says nothing without %s (#23)', (missing) => {
    project = createProject(filesOf(`class Weather { @Tool() private forecast() {} }`));
    rmSync(join(project.folder, missing), { recursive: true });
    expect(warningsAbout([join(project.folder, 'src/main.ts')])).toEqual([]);
  });

  it('prints them and builds, and checks all sources if the built file is named (#23)', async () => {
    project = createProject(filesOf(`class Weather { @Tool() private forecast() {} }`));
    for (const entry of [[], ['dist/main.js']]) {
      expect(await project.decorum(['build', ...entry])).toEqual({
        code: 0,
        stdout: 'weather 1.0.0   dist/main.js\n',
        stderr: expect.stringMatching(/^src\/main\.ts:\d+:\d+ {2}warning: Weather\.forecast is private .*\n$/),
      });
    }
  });
});

describe('decorum dev', () => {
  const WEATHER = (member: string) => `
    import { McpServer, Tool } from '@decorum/core';
    import { Query } from '~/query';
    class Weather { @Tool() forecast(query: Query) { return query; } ${member} }
    export const server = new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather] });`;
  const MAPPED = { ...TSCONFIG, compilerOptions: { ...TSCONFIG.compilerOptions, paths: { '~/*': ['./src/*'] } } };

  it('prints each warning once, and follows edits (#23)', async () => {
    project = createProject({
      'package.json': { name: 'weather', version: '1.0.0', type: 'module' },
      'tsconfig.json': MAPPED,
      'src/units.ts': UNIT,
      'src/query.ts': `${DTO('Query')} }`,
      'src/main.ts': WEATHER(''),
    });
    const { child, ended, printed } = project.start(['dev', '--port', '0']);
    await printed(
      /\d\d {2}src\/query\.ts:6:\d+ {2}warning: Query\.unit accepts any string, .* Add @IsEnum\(Unit\)\.\n/,
    );
    project.write({ 'src/main.ts': WEATHER('@Tool() private alerts() {}') });
    await printed(/src\/main\.ts:4:\d+ {2}warning: Weather\.alerts is private /);
    child.kill('SIGTERM');
    const { stderr } = await ended;
    expect(stderr.match(/warning: \S+/g)).toEqual(['warning: Query.unit', 'warning: Weather.alerts']);
  });

  const CLOCKED = {
    'package.json': { name: 'clock', type: 'module' },
    'tsconfig.json': TSCONFIG,
    'src/main.ts': CLOCK.replace('export class', 'export default class'),
  };

  /** Fails as libuv does for a user without HOME who isn't in the list of users. */
  const HOMELESS = `
delete process.env.HOME;
require('node:os').homedir = () => {
  throw new Error('A system error occurred: uv_os_homedir returned ENOENT (no such file or directory)');
};`;

  it('serves for a user without a home folder, for whom npm does not start (#23)', async () => {
    project = createProject({ ...CLOCKED, 'homeless.cjs': HOMELESS });
    const NODE_OPTIONS = `--require ${join(project.folder, 'homeless.cjs')}`;
    const running = project.start(['dev', '--port', '0'], { NODE_OPTIONS });
    await running.printed(/clock 1\.0\.0 {3}1 tool {3}http/);
    const npm = promisify(execFile)('npm', ['--version'], { env: { ...process.env, NODE_OPTIONS }, cwd: ROOT });
    await expect(npm).rejects.toMatchObject({ stderr: expect.stringContaining('uv_os_homedir returned ENOENT') });
  });

  it('with --check prints type errors while the program runs, and nothing of a cache that it can not write (#23)', async () => {
    project = createProject({
      ...CLOCKED,
      'src/wrong.ts': `export const wrong: number = 'x';\n`,
      'node_modules/.cache': 'a file, where the folder would be',
    });
    const running = project.start(['dev', '--check', '--port', '0']);
    await running.printed(/src\/wrong\.ts:1:14 {2}Type 'string' is not assignable to type 'number'\. \[TS2322\]\n/);
    await running.printed(/clock 1\.0\.0/);
    running.child.kill('SIGTERM');
    expect((await running.ended).stderr).not.toContain('TS5033');
  });
});
