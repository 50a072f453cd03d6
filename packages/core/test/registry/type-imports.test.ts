import { describe, expect, it } from '@jest/globals';
import { Completion, type CompletionContext, type Context, McpServer, Prompt, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { IsString } from 'class-validator';
import ts from 'typescript';

class Query {
  @IsString() text!: string;
}

/** What TypeScript emits for a class of another module that is imported with `type`. */
function emittedFor(statement: string): string | undefined {
  const files: Record<string, string> = {
    '/library.ts': 'export class Context {}',
    '/shop.ts': `${statement} from './library.js';\ndeclare const Tool: any;\nexport class Shop { @Tool() find(_: Context) {} }`,
  };
  const options: ts.CompilerOptions = {
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    noLib: true,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  let emitted = '';
  const program = ts.createProgram(['/shop.ts'], options, {
    ...ts.createCompilerHost(options),
    fileExists: (file) => file in files,
    readFile: (file) => files[file],
    getSourceFile: (file) =>
      files[file] === undefined ? undefined : ts.createSourceFile(file, files[file], ts.ScriptTarget.ESNext),
    writeFile: (file, text) => {
      if (file === '/shop.js') emitted = text;
    },
  });
  program.emit();
  return /design:paramtypes", \[(.*?)\]/.exec(emitted)?.[1];
}

describe('a context that is imported with `type`, as linters write it', () => {
  it.each(['import type { Context }', 'import { type Context }'])(
    'is emitted as Function by TypeScript: %s (#23)',
    (statement) => {
      expect(emittedFor(statement)).toBe('Function');
    },
  );

  it.each([Function, Object])('is the second parameter of handlers and completions: %p (#23)', async (emitted) => {
    class Shop {
      @Tool({ description: 'Finds an article' })
      find({ text }: Query, ctx: Context) {
        return `${text} ${typeof ctx.log}`;
      }

      @Prompt()
      ask({ text }: Query) {
        return text;
      }

      @Completion({ for: 'ask', argument: 'text' })
      texts(value: string, ctx: CompletionContext) {
        return [`${value} ${typeof ctx.signal}`];
      }
    }
    const { defineMetadata } = Reflect as unknown as { defineMetadata(...args: unknown[]): void };
    defineMetadata('design:paramtypes', [Query, emitted], Shop.prototype, 'find');
    defineMetadata('design:paramtypes', [String, emitted], Shop.prototype, 'texts');
    const client = await connect(new McpServer({ name: 'test', version: '1', providers: [Shop] }));
    expect(await client.callTool('find', { text: 'a' })).toMatchObject({ content: [{ text: 'a object' }] });
    expect(await client.complete({ prompt: 'ask' }, { name: 'text', value: 'b' })).toMatchObject({
      values: ['b object'],
    });
  });
});
