import { describe, expect, it } from '@jest/globals';
import { type Class, Hidden, McpServer, Prompt, Tool } from '@decorum/core';
import { connect } from '@decorum/testing';
import { IsString } from 'class-validator';

class Text {
  @IsString() text!: string;
}

class Speaker {
  @Tool({ description: 'Says it', annotations: { readOnlyHint: true } }) say({ text }: Text): string {
    return text;
  }

  @Tool() wave(): string {
    return 'waving';
  }

  @Prompt() ask({ text }: Text): string {
    return text;
  }
}

const serverOf = (...providers: (Class | object)[]) => new McpServer({ name: 'test', version: '1', providers });

async function toolsOf(server: McpServer) {
  const client = await connect(server);
  return await client.listTools();
}

async function textOf(server: McpServer, name: string, args?: Record<string, unknown>): Promise<string> {
  const client = await connect(server);
  const { content } = await client.callTool(name, args);
  const [block] = content;
  return block?.type === 'text' ? block.text : JSON.stringify(content);
}

describe('a subclass', () => {
  it('inherits decorated members', async () => {
    class Polyglot extends Speaker {
      @Tool() whistle() {
        return 'fiu';
      }
    }
    const tools = await toolsOf(serverOf(Polyglot));
    expect(tools.map(({ name }) => name)).toEqual(['say', 'wave', 'whistle']);
  });

  it('does not change its base class', async () => {
    class Shouter extends Speaker {
      @Tool({ name: 'shout' }) override say({ text }: Text) {
        return text.toUpperCase();
      }
    }
    expect(Shouter).toBeDefined();
    expect((await toolsOf(serverOf(Speaker))).map(({ name }) => name)).toEqual(['say', 'wave']);
  });

  it('keeps the record of a member that it overrides without decorating it', async () => {
    class Shouter extends Speaker {
      override say({ text }: Text) {
        return text.toUpperCase();
      }
    }
    const server = serverOf(Shouter);
    const [say] = await toolsOf(server);
    expect(say).toMatchObject({ name: 'say', description: 'Says it' });
    expect(await textOf(server, 'say', { text: 'hi' })).toBe('HI');
  });

  it('refines a member by decorating it again, option by option', async () => {
    class Shouter extends Speaker {
      @Tool({ description: 'Shouts it' }) override say({ text }: Text) {
        return text.toUpperCase();
      }
    }
    const [say] = await toolsOf(serverOf(Shouter));
    expect(say).toMatchObject({ description: 'Shouts it', annotations: { readOnlyHint: true } });
  });

  it('drops a member with @Hidden', async () => {
    class Shy extends Speaker {
      @Hidden() override wave() {
        return '';
      }
    }
    const server = serverOf(Shy);
    expect((await toolsOf(server)).map(({ name }) => name)).toEqual(['say']);
    const client = await connect(server);
    await expect(client.callTool('wave')).rejects.toMatchObject({ code: -32602 });
  });
});

describe('a subclass of McpServer', () => {
  class Desk extends McpServer {
    private readonly greeting = 'Hello';

    constructor() {
      super({ name: 'desk', version: '1' });
    }

    @Tool() greet({ text }: Text) {
      return `${this.greeting}, ${text}`;
    }
  }

  it('serves its own members, with its own fields in place', async () => {
    expect(await textOf(new Desk(), 'greet', { text: 'Ada' })).toBe('Hello, Ada');
  });

  it('can be subclassed again', async () => {
    class Reception extends Desk {
      override greet({ text }: Text) {
        return `${super.greet({ text })}!`;
      }
    }
    expect(await textOf(new Reception(), 'greet', { text: 'Ada' })).toBe('Hello, Ada!');
  });

  it('may have members with the names of internal methods: open, detach and report', async () => {
    class Shop extends McpServer {
      @Tool() open() {
        return 'The shop is open.';
      }

      @Tool() detach() {
        return 'It is detached.';
      }

      @Tool() report() {
        return 'Nothing to report.';
      }
    }
    const server = new Shop({ name: 'shop', version: '1' });
    expect(await textOf(server, 'open', {})).toBe('The shop is open.');
    expect(await textOf(server, 'detach', {})).toBe('It is detached.');
    expect(await textOf(server, 'report', {})).toBe('Nothing to report.');
    await server.close();
  });
});

describe('mixins', () => {
  // TypeScript demands `any` here: https://www.typescriptlang.org/docs/handbook/mixins.html
  // oxlint-disable-next-line typescript/no-explicit-any
  const Counting = <B extends new (...args: any[]) => object>(Base: B) => {
    class Counter extends Base {
      #count = 0;

      @Tool() count() {
        return ++this.#count;
      }
    }
    return Counter;
  };

  it('bring their decorated members', async () => {
    class CountingSpeaker extends Counting(Speaker) {}
    const server = serverOf(CountingSpeaker);
    expect((await toolsOf(server)).map(({ name }) => name)).toEqual(['say', 'wave', 'count']);
    expect(await textOf(server, 'count')).toBe('1');
  });
});

describe('one class in two servers', () => {
  it('has an instance in each, and tools in both', async () => {
    class Counter {
      private count = 0;

      @Tool() next() {
        return ++this.count;
      }
    }
    const [first, second] = [serverOf(Counter), serverOf(Counter)];
    expect(await textOf(first, 'next')).toBe('1');
    expect(await textOf(first, 'next')).toBe('2');
    expect(await textOf(second, 'next')).toBe('1');
  });
});

describe('providers', () => {
  it('may have a prefix for their names, twice with different prefixes on one instance', async () => {
    let built = 0;
    class Clock {
      constructor() {
        built += 1;
      }

      @Tool() now() {
        return 'noon';
      }
    }
    const server = serverOf({ provider: Clock, prefix: 'eu_' }, { provider: Clock, prefix: 'us_' });
    expect((await toolsOf(server)).map(({ name }) => name)).toEqual(['eu_now', 'us_now']);
    expect(built).toBe(1);
  });
});
