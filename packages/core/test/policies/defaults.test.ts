import { type Class, Completion, Defaults, McpServer, Prompt, Resource, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

import { SILENT, turn } from '../kernel/serving.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));

afterEach(() => void jest.useRealTimers());

const never = () => new Promise<never>(() => {});

/** The limit of a member that never ends, as its error says it. */
async function limitOf(provider: Class, method = 'tools/call', params: object = { name: 'wait' }): Promise<string> {
  const server = new McpServer({
    name: 'test',
    version: '1',
    logger: SILENT,
    providers: [provider],
    timeoutMs: 90_000,
  });
  const client = await connect(server);
  const answer = client.request(method, params as never).then(
    (result) => JSON.stringify(result),
    (error: unknown) => String(error),
  );
  await turn();
  await jest.advanceTimersByTimeAsync(90_000);
  const [, limit = 'none'] = /within (\S+ \w+)/.exec((await Promise.race([answer, turn()])) ?? '') ?? [];
  return limit;
}

class WorkId {
  @IsString() id!: string;
}

@Defaults({ timeoutMs: 1000 })
class Base {
  @Tool() wait(): unknown {
    return never();
  }

  @Tool({ timeoutMs: 7000 }) own(): unknown {
    return never();
  }

  @Prompt() ask(): unknown {
    return never();
  }

  @Resource('work://{id}') work(_input: WorkId): unknown {
    return never();
  }

  @Completion({ for: 'work', argument: 'id' }) ids(_typed: string): Promise<string[]> {
    return never();
  }
}

describe('@Defaults', () => {
  it.each([
    ['tools', 'tools/call', { name: 'wait' }, '1 s'],
    ['prompts', 'prompts/get', { name: 'ask' }, '1 s'],
    ['resources', 'resources/read', { uri: 'work://7' }, '1 s'],
    [
      'completions',
      'completion/complete',
      { ref: { type: 'ref/resource', uri: 'work://{id}' }, argument: { name: 'id', value: '' } },
      '1 s',
    ],
    ['members without an option of their own', 'tools/call', { name: 'own' }, '7 s'],
  ])('hold for %s', async (_which, method, params, expected) => {
    expect(await limitOf(Base, method, params)).toBe(expected);
  });

  it('hold for inherited members of a subclass, and for those that it overrides', async () => {
    class Inherits extends Base {}
    class Overrides extends Base {
      override wait() {
        return never();
      }
    }
    expect([await limitOf(Inherits), await limitOf(Overrides)]).toEqual(['1 s', '1 s']);
  });

  it('are refined by a subclass, option by option, and its base class keeps its own', async () => {
    @Defaults({ timeoutMs: 2000 })
    class Refines extends Base {}
    @Defaults({ concurrency: 3 })
    class Adds extends Refines {}
    @Defaults({ timeoutMs: false })
    class Ends extends Adds {}
    expect([await limitOf(Refines), await limitOf(Adds), await limitOf(Ends), await limitOf(Base)]).toEqual([
      '2 s',
      '2 s',
      'none',
      '1 s',
    ]);
    expect(await limitOf(Refines, 'tools/call', { name: 'own' })).toBe('7 s');
  });

  it('hold for members and subclasses whose option is undefined', async () => {
    @Defaults({ timeoutMs: undefined } as object)
    class Other extends Base {
      @Tool({ timeoutMs: undefined } as object) override wait() {
        return never();
      }
    }
    expect(await limitOf(Other)).toBe('1 s');
  });

  it('keep what they were given, whatever becomes of the object', async () => {
    const options = { timeoutMs: 3000 };
    @Defaults(options)
    class Fixed extends Base {}
    options.timeoutMs = 4000;
    expect(await limitOf(Fixed)).toBe('3 s');
  });
});
