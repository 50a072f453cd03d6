// What the commands add to errors of Node.js that name only a symptom.
import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { Project as DevProject } from '../../../test/support/dev-project.js';
import { createProject, type Project, TSCONFIG } from './project.js';

// `decorum build` starts a compiler
jest.setTimeout(180_000);

let project: Project | DevProject | undefined;
afterEach(() => project?.remove());

const started = async (files: Readonly<Record<string, string | object>>) => {
  project = createProject(files);
  const { code, stderr } = await project.decorum(['start', 'src/main.ts']);
  return { code, error: stderr.replace(/^src\/main\.ts is TypeScript.*\n/, '').replace(/^\(.*\n/gm, '') };
};

const built = async (files: Readonly<Record<string, string | object>>) => {
  project = createProject(files);
  const { code, stderr } = await project.decorum(['build']);
  return { code, error: stderr };
};

describe('DTOs in two files that refer to each other', () => {
  const dto = (name: string, other: string, type = other) => `
import { Type } from 'class-transformer';
import { IsOptional, IsString, ValidateNested } from 'class-validator';
import { ${other} } from './${other.toLowerCase()}.js';
type Later<T> = T;
export class ${name} {
  @IsString() name!: string;
  @IsOptional() @ValidateNested() @Type(() => ${other}) other?: ${type};
}
export const later = (value: unknown) => value as Later<${name}>;
`;
  const LIBRARY = (first: string) => `
import { McpServer, Tool } from '@decorum/core';
import './${first}.js';
import { Author } from './author.js';
class Library {
  @Tool({ description: 'Finds a book' })
  find({ name, other }: Author) {
    return name + ' of ' + other?.name + ', a ' + other?.constructor.name;
  }
}
export const server = new McpServer({ name: 'library', version: '1.0.0', providers: [Library] });
`;
  const files = (type: (other: string) => string, first = 'author') => ({
    'package.json': { name: 'library', version: '1.0.0', type: 'module' },
    'tsconfig.json': TSCONFIG,
    'src/author.ts': dto('Author', 'Book', type('Book')),
    'src/book.ts': dto('Book', 'Author', type('Author')),
    'src/main.ts': LIBRARY(first),
  });
  const ADVICE =
    /^src\/book\.ts:\d+:\d+ {2}ReferenceError: Cannot access 'Author' before initialization\. src\/book\.ts and src\/author\.ts need each other while they load\. .*, declare `type Later<T> = T`, and write `@Type\(\(\) => Author\) other\?: Later<Author>`\.\n$/;

  it('are named by decorum start, with what to write (#23)', async () => {
    expect(await started(files((other) => other))).toEqual({ code: 1, error: expect.stringMatching(ADVICE) });
  });

  it('are named by decorum build, with the lines of the sources (#23)', async () => {
    expect(await built(files((other) => other))).toEqual({ code: 1, error: expect.stringMatching(ADVICE) });
  });

  it('are named by decorum dev (#23)', async () => {
    const { 'tsconfig.json': _, 'package.json': __, ...sources } = files((other) => other);
    project = new DevProject(sources);
    const run = project.dev(['--port', '0']);
    await run.says(/src\/book\.ts:\d+:\d+ {2}.* src\/book\.ts and src\/author\.ts need each other .*Later<Author>/);
  });

  it.each(['author', 'book'])('work with what the advice says, whichever is loaded first: %s (#23)', async (first) => {
    const calls = `
import { connect } from '@decorum/testing';
import { server } from './main.js';
const client = await connect(server);
const { content } = await client.callTool('find', { name: 'Ada', other: { name: 'Notes', other: { name: 'Ada' } } });
console.log(content[0].text);
await client.close();
`;
    project = createProject({ ...files((other) => `Later<${other}>`, first), 'src/calls.ts': calls });
    const result = { code: 0, stdout: 'Ada of Notes, a Book\n', stderr: '' };
    expect(await project.node(['--import', '@decorum/cli/register', 'src/calls.ts'])).toEqual(result);
    project.write({ 'tsconfig.json': { ...TSCONFIG, exclude: ['src/calls.ts'] } });
    expect(await project.decorum(['build'])).toMatchObject({ code: 0 });
    project.write({ 'dist/calls.js': calls });
    expect(await project.node(['dist/calls.js'])).toEqual(result);
  });

  it('are found behind a file that only re-exports them, and in one file (#23)', async () => {
    const barrel = {
      ...files((other) => other),
      'src/index.ts': `export * from './author.js';\nexport * from './book.js';`,
    };
    const through = Object.fromEntries(
      Object.entries(barrel).map(([path, text]) => [
        path,
        typeof text === 'string'
          ? text.replace(/from '\.\/(?:author|book)\.js';\ntype/, `from './index.js';\ntype`)
          : text,
      ]),
    );
    const { error } = await started(through);
    expect(error).toMatch(/ src\/book\.ts and src\/author\.ts need each other .*Later<Author>`\.\n$/);
    await project?.remove();
    const one = `class Author { @Mark() book?: Book; }\nclass Book {}\n`;
    const mark = `const Mark = () => (..._: unknown[]) => {};\n`;
    expect((await started({ 'package.json': { type: 'module' }, 'src/main.ts': mark + one })).error).toMatch(
      /^src\/main\.ts:2:\d+ {2}.* Book is declared below the class that needs it\. Move it up\. .*book\?: Later<Book>`\.\n$/,
    );
  });

  it('are told from classes that files need for anything else (#23)', async () => {
    const error = await started({
      'package.json': { type: 'module' },
      'src/main.ts': `import './animal.js';`,
      'src/animal.ts': `import { Cat } from './cat.js'; export class Animal { friend() { return new Cat(); } }`,
      'src/cat.ts': `import { Animal } from './animal.js'; export class Cat extends Animal {}`,
    });
    expect(error).toEqual({
      code: 1,
      error: expect.stringMatching(
        /initialization\. src\/cat\.ts and src\/animal\.ts need each other while they load\. Move Animal, or what needs it, to a file/,
      ),
    });
  });
});

describe('a top-level await in CommonJS', () => {
  const AWAIT = 'CommonJS has no `await` at the top level.';
  const REMEDY = 'Set `"type": "module"` in package.json, or move the `await` into an async function.';

  it.each([
    ['in a declaration', `export const name = await Promise.resolve('a');`, '1:21'],
    ['that looks like a call', `await (Promise.resolve('a'));`, '1:1'],
    ['in a loop', `async function no() { await 1; }\nfor await (const each of [no()]) console.log(each);`, '2:1'],
  ])('is shown with its line and what to change: %s (#23)', async (_, code, place) => {
    const { code: exitCode, error } = await started({
      'package.json': { name: 'app' },
      'tsconfig.json': { compilerOptions: { module: 'nodenext' } },
      'src/main.ts': `import './other';`,
      'src/other.ts': code,
    });
    expect({ exitCode, error }).toEqual({
      exitCode: 1,
      error: expect.stringContaining(`src/other.ts:${place}  ${AWAIT} ${REMEDY}\n\n`),
    });
  });

  it('is not blamed for other errors (#23)', async () => {
    const { error } = await started({
      'package.json': { type: 'commonjs' },
      'src/main.ts': `async function no() { await 1; }\nvoid no;\nJSON.parse('{');`,
    });
    expect(error).toMatch(/^src\/main\.ts:3:6 {2}SyntaxError: Expected property name/);
  });
});

describe('an import that only `paths` of a tsconfig resolves', () => {
  const main = `import { Greeter } from '@app/greeter.js';\nconsole.log(Greeter);`;
  const remedy = (from: string) =>
    `. \`paths\` of ${from} names src/greeter.ts, but only for type checks: tsc doesn't change the import, and Node.js doesn't read \`paths\`. Write \`"imports": { "#app/*": "./dist/*" }\` in package.json instead, and import "#app/greeter.js".\n`;
  const files = {
    'package.json': { name: 'app', type: 'module' },
    'src/greeter.ts': `export class Greeter {}`,
    'src/main.ts': main,
  };
  const paths = { '@app/*': ['./src/*'] };

  it('fails the build, which names the imports of package.json to write instead (#23)', async () => {
    const tsconfig = { ...TSCONFIG, compilerOptions: { ...TSCONFIG.compilerOptions, paths } };
    expect(await built({ ...files, 'tsconfig.json': tsconfig })).toEqual({
      code: 1,
      error: expect.stringContaining(remedy('tsconfig.json')),
    });
  });

  it('is explained if the tsconfig with the `paths` is not the one that applies (#23)', async () => {
    const { error } = await started({
      ...files,
      'tsconfig.json': TSCONFIG,
      'tsconfig.app.json': { extends: './tsconfig.json', compilerOptions: { paths } },
    });
    expect(error).toContain(`Cannot find package '@app/greeter.js'`);
    expect(error).toContain(remedy('tsconfig.app.json'));
  });

  it('is explained in CommonJS, where the extension is missing (#23)', async () => {
    const tsconfig = { ...TSCONFIG, compilerOptions: { ...TSCONFIG.compilerOptions, paths } };
    const { error } = await built({
      ...files,
      'package.json': { name: 'app' },
      'tsconfig.json': tsconfig,
      'src/main.ts': main.replace('greeter.js', 'greeter'),
    });
    expect(error).not.toContain('Require stack');
    expect(error).toContain(
      'Write `"imports": { "#app/*": "./dist/*.js" }` in package.json instead, and import "#app/greeter".',
    );
  });

  it('is told from a package that is missing (#23)', async () => {
    const { error } = await started({
      ...files,
      'tsconfig.json': TSCONFIG,
      'src/main.ts': `import '@app/greeter.js';`,
    });
    expect(error).toMatch(/^src\/main\.ts {2}Cannot find package '@app\/greeter\.js' imported from \S+\n$/);
  });
});
