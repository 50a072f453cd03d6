import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  type Class,
  type Context,
  McpServer,
  Prompt,
  Resource,
  type SchemaSource,
  type StartupErrorCode,
  Tool,
} from '@decorum/core';
import { connect, type TestClient } from '@decorum/testing';
import { type } from 'arktype';
import { IsString } from 'class-validator';
import * as v from 'valibot';
import { z } from 'zod';

class City {
  @IsString()
  city!: string;
}

const start = (cls: Class) => () => new McpServer({ name: 'test', version: '1', providers: [cls] });

/** Expects a message that starts with the place and ends with the remedy. */
function expectMistake(run: () => void, code: StartupErrorCode, where: string, ...texts: string[]): void {
  expect(run).toThrow(expect.objectContaining({ code }));
  expect(run).toThrow(new RegExp(`^${where}: `));
  for (const text of texts) expect(run).toThrow(text);
}

/** A class with a method parameter, compiled with these emitted types or without types. */
function compiled(types?: unknown[]): Class {
  class Shop {
    search(_query: unknown) {}
  }
  const { prototype } = Shop;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'search') as TypedPropertyDescriptor<() => void>;
  Tool()(prototype, 'search', descriptor);
  if (types) {
    const { defineMetadata } = Reflect as unknown as { defineMetadata(...args: unknown[]): void };
    defineMetadata('design:paramtypes', types, prototype, 'search');
  }
  return Shop;
}

describe('a parameter from which no schema can be inferred', () => {
  let folder = '';
  afterEach(() => {
    jest.restoreAllMocks();
    if (folder !== '') rmSync(folder, { recursive: true });
    folder = '';
  });

  function project(files: Record<string, string>): string {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-')));
    mkdirSync(join(folder, 'src'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    jest.spyOn(process, 'cwd').mockReturnValue(join(folder, 'src'));
    return join(folder, 'tsconfig.json');
  }

  it('may have a class imported with `import type`', () => {
    class Real {
      @Tool()
      search(_query: TestClient) {}
    }
    expectMistake(start(Real), 'DECORUM_MISSING_INPUT', 'Real.search', 'write `import { MyDto }`', '`input: MyDto`.');
    const remedies = ['`import type`, write `import { MyDto }`', 'pass `input: MyDto`.'];
    expectMistake(start(compiled([Object])), 'DECORUM_MISSING_INPUT', 'Shop.search', ...remedies);
  });

  it('may have a class that is not yet defined', () => {
    const remedies = ['two modules import each other. Move the DTO to a module of its own', '`input: MyDto`.'];
    expectMistake(start(compiled([undefined])), 'DECORUM_MISSING_INPUT', 'Shop.search', ...remedies);
  });

  it.each([
    [String, 'it is a string'],
    [Number, 'it is a number'],
    [Boolean, 'it is a boolean'],
    [Array, 'it is an array'],
  ])('may be %p', (emitted, found) => {
    const run = start(compiled([emitted]));
    expectMistake(run, 'DECORUM_MISSING_INPUT', 'Shop.search', found, 'a DTO class', '`input: MyDto`.');
  });

  it('may have a type that was not emitted: the error names the flag and the tsconfig without it', () => {
    const file = project({ 'tsconfig.json': '{ "compilerOptions": { // "emitDecoratorMetadata": true\n} }' });
    const flags = `Set "experimentalDecorators": true and "emitDecoratorMetadata": true in ${file}, or pass`;
    expectMistake(start(compiled()), 'DECORUM_MISSING_INPUT', 'Shop.search', flags, '`input: MyDto`');
  });

  it('may have a type that was not emitted although the tsconfig, or its base, has the flag', () => {
    const file = project({ 'tsconfig.json': '{ "compilerOptions": { "emitDecoratorMetadata": true } }' });
    const problem = `although ${file} sets "emitDecoratorMetadata"`;
    expectMistake(start(compiled()), 'DECORUM_MISSING_INPUT', 'Shop.search', problem, 'tsc, swc or oxc', 'esbuild');
    writeFileSync(file, '{ "extends": "./base" }');
    writeFileSync(join(folder, 'base.json'), '{ "compilerOptions": { "emitDecoratorMetadata": true } }');
    expectMistake(start(compiled()), 'DECORUM_MISSING_INPUT', 'Shop.search', problem);
    writeFileSync(file, '{ "extends": "./tsconfig" }');
    expectMistake(start(compiled()), 'DECORUM_MISSING_INPUT', 'Shop.search', `in ${file}`);
  });

  it('may be in a project without a tsconfig', () => {
    jest.spyOn(process, 'cwd').mockReturnValue('/');
    expectMistake(start(compiled()), 'DECORUM_MISSING_INPUT', 'Shop.search', 'in tsconfig.json, or pass');
  });

  it('is not reported if another decorator has wrapped a method without parameters', async () => {
    const Wrapped = (_target: object, _key: string, descriptor: PropertyDescriptor) => {
      const method = descriptor.value as (...args: unknown[]) => unknown;
      descriptor.value = function wrapped(this: unknown, ...args: unknown[]) {
        return method.apply(this, args);
      };
    };
    class Shop {
      @Wrapped
      @Tool()
      open() {
        return 'yes';
      }
    }
    const client = await connect(start(Shop)());
    expect((await client.callTool('open')).content).toMatchObject([{ text: 'yes' }]);
  });
});

describe('a schema that is undefined', () => {
  it.each([undefined, null])('is rejected instead of ignored: %p', (absent) => {
    class Input {
      @Tool({ input: absent } as object)
      search(_query: City, _context: Context) {}
    }
    class Output {
      @Tool({ output: absent } as object)
      search() {}
    }
    class Ask {
      @Prompt({ input: absent } as object)
      search(_query: City) {}
    }
    const because = [`is ${absent}`, 'two modules import each other'];
    for (const cls of [Input, Ask]) {
      const where = `${cls.name}.search`;
      expectMistake(start(cls), 'DECORUM_INVALID_OPTION', where, '`input`', ...because, 'or remove `input`.');
    }
    expectMistake(start(Output), 'DECORUM_INVALID_OPTION', 'Output.search', ...because, 'or remove `output`.');
  });

  it('is rejected in addTool', () => {
    const server = new McpServer({ name: 'test', version: '1' });
    const add = (options: object) => () => server.addTool({ name: 'search', ...options }, () => '');
    expectMistake(add({ input: undefined }), 'DECORUM_INVALID_OPTION', 'addTool.search', 'or remove `input`.');
    expectMistake(add({ output: undefined }), 'DECORUM_INVALID_OPTION', 'addTool.search', 'or remove `output`.');
  });
});

describe('a value that is not a schema', () => {
  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['a shape of zod', { city: z.string() }, 'Wrap it: z.object({ … }).'],
    ['a shape of valibot', { city: v.string() }, 'Wrap it: v.object({ … }).'],
    ['a shape of arktype', { city: type('string') }, 'Wrap it: type({ … }).'],
    ['an arrow function', () => City, 'Pass the class itself: `MyDto`, not `() => MyDto`.'],
    ['an instance', new City(), 'it is an instance of City. Pass the class itself: `City`.'],
    ['a primitive constructor', String, 'String is not a schema.'],
    ['a list', [City], 'Pass `MyDto`, `z.object({ … })` or `{ type: "object", … }`.'],
    ['a text', 'City', 'Pass `MyDto`, `z.object({ … })` or `{ type: "object", … }`.'],
  ];

  it.each(wrong)('is rejected as `input` of each decorator: %s', (_what, input, remedy) => {
    const options = { input: input as SchemaSource } as object;
    class AsTool {
      @Tool(options)
      search(_query: never) {}
    }
    class AsPrompt {
      @Prompt(options)
      search(_query: never) {}
    }
    class AsResource {
      @Resource('x://{city}', options)
      search(_query: never) {}
    }
    for (const cls of [AsTool, AsPrompt, AsResource]) {
      expectMistake(start(cls), 'DECORUM_INVALID_SCHEMA', `${cls.name}.search`, remedy);
    }
  });

  it.each(wrong)('is rejected as `output`: %s', (_what, output, remedy) => {
    class Shop {
      @Tool({ output } as object)
      search() {}
    }
    expectMistake(start(Shop), 'DECORUM_INVALID_SCHEMA', 'Shop.search \\(output\\)', remedy);
  });
});
