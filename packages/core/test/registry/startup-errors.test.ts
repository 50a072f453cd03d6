import { describe, expect, it } from '@jest/globals';
import {
  type Class,
  Completion,
  Context,
  DecorumError,
  Hidden,
  McpServer,
  Prompt,
  Resource,
  type StartupErrorCode,
  Tool,
} from '@decorum/core';
import { IsOptional, IsString } from 'class-validator';

class Id {
  @IsString()
  id!: string;
}

class IdAndMore extends Id {
  @IsString()
  more!: string;
}

/** The startup error of a server with these providers. */
function mistakeOf(...providers: unknown[]): DecorumError {
  try {
    new McpServer({ name: 'test', version: '1', providers: providers as Class[] });
  } catch (error) {
    if (error instanceof DecorumError) return error;
    throw error;
  }
  throw new Error('The server was built in spite of the mistake.');
}

function expectMistake(error: DecorumError, code: StartupErrorCode, ...mentioned: string[]) {
  expect(error.code).toBe(code);
  for (const text of [code, ...mentioned]) expect(error.message).toContain(text);
}

describe('a mistake in annotations fails at startup with its place and remedy:', () => {
  it('a static member', () => {
    expect(() => {
      class Wrong {
        @Tool()
        static help() {}
      }
      return Wrong;
    }).toThrow(/"Wrong.help".*static.*DECORUM_UNSUPPORTED_MEMBER/);
  });

  it('a member with a symbol as name', () => {
    const secret = Symbol('secret');
    expect(() => {
      class Wrong {
        @Tool()
        [secret]() {}
      }
      return Wrong;
    }).toThrow(/Symbol\(secret\).*DECORUM_UNSUPPORTED_MEMBER/);
  });

  it('two decorators of one kind on a method', () => {
    class Wrong {
      @Tool({ name: 'a' })
      @Tool({ name: 'b' })
      help() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_DECORATED_TWICE', 'Wrong.help', '@tool');
  });

  it('a provider without members', () => {
    class Plain {}
    expectMistake(mistakeOf(Plain), 'DECORUM_NO_MEMBERS', 'Plain');
  });

  it('a provider that is not an object', () => {
    expectMistake(mistakeOf(undefined), 'DECORUM_BAD_PROVIDER', 'undefined');
  });

  it('a parameter whose type the compiler does not emit', () => {
    class Wrong {
      @Tool()
      help(_input: { id: string }) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_MISSING_INPUT', 'Wrong.help', 'input: MyDto', 'import type');
  });

  it('a parameter that is a plain string', () => {
    class Wrong {
      @Tool()
      help(_input: string) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_MISSING_INPUT', 'string');
  });

  it('two tools with the same name, in one class or in two', () => {
    class One {
      @Tool()
      help() {}
    }
    class Two {
      @Tool({ name: 'help' })
      other() {}
    }
    expectMistake(mistakeOf(One, Two), 'DECORUM_DUPLICATE_NAME', 'One.help', 'Two.other', 'prefix');
  });

  it('two resources with the same URI', () => {
    class Wrong {
      @Resource('x://a')
      one() {}
      @Resource('x://a')
      two() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_DUPLICATE_NAME', 'Wrong.one', 'Wrong.two', 'x://a');
  });

  it('a name that clients reject', () => {
    class Wrong {
      @Tool({ name: 'two words' })
      help() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_INVALID_NAME', 'Wrong.help', 'two words');
  });

  it('a completion without a target', () => {
    class Wrong {
      @Prompt()
      ask(_input: Id) {}
      @Completion({ for: 'asks', argument: 'id' })
      ids() {
        return [];
      }
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_DANGLING_COMPLETION', 'Wrong.ids', 'asks', '"ask"');
  });

  it('a completion of an unknown argument', () => {
    class Wrong {
      @Prompt()
      ask(_input: Id) {}
      @Completion({ for: 'ask', argument: 'name' })
      ids() {
        return [];
      }
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_UNKNOWN_ARGUMENT', 'Wrong.ids', 'name', '"id"');
  });

  it('two completions of one argument', () => {
    class Wrong {
      @Prompt()
      ask(_input: Id) {}
      @Completion({ for: 'ask', argument: 'id' })
      one() {
        return [];
      }
      @Completion({ for: 'ask', argument: 'id' })
      two() {
        return [];
      }
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_DUPLICATE_COMPLETION', 'Wrong.two', 'id');
  });

  it('an unknown list member', () => {
    class Wrong {
      @Resource('x://{id}', { list: 'all' })
      one(_input: Id) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_DANGLING_LIST', 'Wrong.one', 'all');
  });

  it('a list for a URI without variables', () => {
    class Wrong {
      @Resource('x://a', { list: 'all' })
      one() {}
      all() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_INVALID_OPTION', 'Wrong.one', 'list');
  });

  it('a template that cannot be parsed', () => {
    class Wrong {
      @Resource('x://{id')
      one(_input: Id) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_BAD_TEMPLATE', 'Wrong.one', 'x://{id');
  });

  it('a URI without a scheme', () => {
    class Wrong {
      @Resource('/a/b')
      one() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_BAD_URI', 'Wrong.one', '/a/b');
  });

  it('a template variable without a field', () => {
    class Wrong {
      @Resource('x://{id}/{part}')
      one(_input: Id) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_TEMPLATE_VARIABLE', 'Wrong.one', 'part', '"id"');
  });

  it('a required field without a template variable', () => {
    class Wrong {
      @Resource('x://{id}')
      one(_input: IdAndMore) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_TEMPLATE_FIELD', 'Wrong.one', 'more');
  });

  it('but not an optional field without one', () => {
    class Lenient extends Id {
      @IsOptional()
      @IsString()
      more?: string;
    }
    class Right {
      @Resource('x://{id}')
      one(_input: Lenient) {}
    }
    expect(() => new McpServer({ name: 'test', version: '1', providers: [Right] })).not.toThrow();
  });

  it('a DTO without rules', () => {
    class Bare {
      id!: string;
    }
    class Wrong {
      @Tool()
      one(_input: Bare) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_NO_RULES', 'Bare');
  });

  it('an input that is not an object', () => {
    class Wrong {
      @Tool({ input: { type: 'string' } })
      one() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_INVALID_SCHEMA', 'Wrong.one');
  });

  it('@Hidden on an unknown member', () => {
    class Base {
      @Tool()
      help() {}
    }
    class Wrong extends Base {
      @Hidden()
      hlep() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_NOTHING_HIDDEN', 'Wrong.hlep');
  });

  it('an unknown option', () => {
    class Wrong {
      @Tool({ descripton: 'misspelt' } as object)
      help() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_INVALID_OPTION', 'Wrong.help', 'descripton');
  });

  it('a DTO for a URI without variables', () => {
    class Wrong {
      @Resource('x://a')
      one(_input: Id) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_INVALID_OPTION', 'Wrong.one', 'variables');
  });

  it('the context as first parameter', () => {
    class Wrong {
      @Tool()
      help(_ctx: Context) {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_MISSING_INPUT', 'Wrong.help', 'NoInput');
  });

  it('a rest parameter of an unknown type', () => {
    class Wrong {
      help(..._inputs: { id: string }[]) {}
    }
    (Tool() as (target: object, key: string, descriptor: PropertyDescriptor) => void)(Wrong.prototype, 'help', {});
    expectMistake(mistakeOf(Wrong), 'DECORUM_MISSING_INPUT', 'Wrong.help', 'input: MyDto');
  });

  it.each([
    [{ size: -1 }, 'size'],
    [{ annotations: { audience: ['everybody'] } }, 'audience'],
    [{ annotations: { lastModified: 'yesterday' } }, 'lastModified'],
  ])('an invalid field of a resource: %j', (options, field) => {
    class Wrong {
      @Resource('x://a', options as object)
      one() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_INVALID_OPTION', 'Wrong.one', field);
  });

  it('a container that returns no instance', () => {
    class Service {
      @Tool()
      help() {}
    }
    for (const given of [undefined, null, 'Service', Service]) {
      const build = () =>
        new McpServer({ name: 'test', version: '1', providers: [Service], resolve: () => given as object });
      expect(build).toThrow(/Service.*resolve.*DECORUM_INVALID_OPTION/);
    }
  });

  it('a priority out of range', () => {
    class Wrong {
      @Resource('x://a', { annotations: { priority: 2 } })
      one() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_INVALID_OPTION', 'Wrong.one', 'priority');
  });

  it('an icon with a scheme that clients reject', () => {
    class Wrong {
      @Tool({ icons: [{ src: 'javascript:alert(1)' }] })
      one() {}
    }
    expectMistake(mistakeOf(Wrong), 'DECORUM_INVALID_OPTION', 'Wrong.one', 'javascript:');
  });

  it('a decorated field', () => {
    class Wrong {
      one = 1;
    }
    // accepted by a compiler without types for decorators
    (Tool() as unknown as (target: object, key: string) => void)(Wrong.prototype, 'one');
    expectMistake(mistakeOf(Wrong), 'DECORUM_NOT_A_METHOD', 'Wrong.one');
  });

  it('options of the server out of range', () => {
    const build = (options: object) => () => new McpServer({ name: 'test', version: '1', ...options });
    expect(build({ version: '' })).toThrow(/version.*DECORUM_INVALID_OPTION/);
    expect(build({ logLevel: 'loud' })).toThrow(/logLevel.*DECORUM_INVALID_OPTION/);
    expect(build({ cache: { ttlMs: -1 } })).toThrow(/cache.*DECORUM_INVALID_OPTION/);
    expect(build({ pageSize: 0 })).toThrow(/pageSize.*DECORUM_INVALID_OPTION/);
    for (const experimental of ['x', [], null, { 'example.com/a': true }, { 'example.com/a': [] }]) {
      expect(build({ experimental })).toThrow(/experimental.*DECORUM_INVALID_OPTION/);
    }
    expect(build({ secret: 'short' })).toThrow(/secret.*DECORUM_INVALID_OPTION/);
    expect(build({ questionTimeoutMs: Number.NaN })).toThrow(/questionTimeoutMs.*DECORUM_INVALID_OPTION/);
  });
});

describe('adding at run time', () => {
  it('adds no member of an invalid provider', () => {
    class Good {
      @Tool()
      help() {}
    }
    class HalfGood {
      @Tool()
      more() {}
      @Tool({ name: 'help' })
      again() {}
    }
    class Late {
      @Tool()
      more() {}
    }
    const server = new McpServer({ name: 'test', version: '1', providers: [Good] });
    expect(() => server.addProvider(HalfGood)).toThrow(DecorumError);
    expect(() => server.addProvider(Late)).not.toThrow();
  });
});
