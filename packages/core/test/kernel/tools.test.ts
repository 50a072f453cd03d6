import { describe, expect, it } from '@jest/globals';
import {
  audio,
  Context,
  embedded,
  type ErrorOrigin,
  image,
  link,
  McpError,
  McpServer,
  NoInput,
  text,
  Tool,
  ToolError,
  toolResult,
} from '@decorum/core';
import { connect } from '@decorum/testing';
import { Type } from 'class-transformer';
import { IsInt, IsNumber, IsString, Max, MaxLength, Min, ValidateNested } from 'class-validator';

class Line {
  @IsString()
  @MaxLength(5)
  sku!: string;

  @IsInt()
  @Min(1)
  @Max(9)
  qty: number = 1;
}

class Order {
  @IsString()
  id!: string;

  @ValidateNested({ each: true })
  @Type(() => Line)
  lines!: Line[];
}

class Sum {
  @IsNumber()
  sum!: number;
}

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

class Kinds {
  @Tool() string() {
    return 'text';
  }
  @Tool() number() {
    return 42;
  }
  @Tool() boolean() {
    return false;
  }
  @Tool() bigint() {
    return 10n;
  }
  @Tool() object() {
    return { a: 1 };
  }
  @Tool() array() {
    return [1, 2];
  }
  @Tool() null() {
    return null;
  }
  @Tool() nothing() {}
  @Tool() dto() {
    return Object.assign(new Sum(), { sum: 3 });
  }
  @Tool() png() {
    return PNG;
  }
  @Tool() bytes() {
    return Buffer.from('abc');
  }
  @Tool() block() {
    return image(PNG, 'image/png');
  }
  @Tool() blocks() {
    return [text('a'), audio('AAAA', 'audio/wav'), link('x://a'), embedded({ uri: 'x://b', data: 'b' })];
  }
  @Tool() async promise() {
    return 'later';
  }
  @Tool() lookalike() {
    return { type: 'text', words: 3 };
  }
}

const connectTo = (...providers: object[]) => connect(new McpServer({ name: 'test', version: '1', providers }));

describe('what a tool returns becomes content:', () => {
  it.each([
    ['string', [{ type: 'text', text: 'text' }]],
    ['number', [{ type: 'text', text: '42' }]],
    ['boolean', [{ type: 'text', text: 'false' }]],
    ['bigint', [{ type: 'text', text: '10' }]],
    ['object', [{ type: 'text', text: '{"a":1}' }]],
    ['array', [{ type: 'text', text: '[1,2]' }]],
    ['null', [{ type: 'text', text: 'null' }]],
    ['nothing', []],
    ['dto', [{ type: 'text', text: '{"sum":3}' }]],
    ['png', [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }]],
    [
      'bytes',
      [
        {
          type: 'resource',
          resource: {
            uri: 'cid:content@message',
            mimeType: 'application/octet-stream',
            blob: 'YWJj',
          },
        },
      ],
    ],
    ['block', [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' }]],
    [
      'blocks',
      [
        { type: 'text', text: 'a' },
        { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'x://a', name: 'x://a' },
        { type: 'resource', resource: { uri: 'x://b', mimeType: 'text/plain', text: 'b' } },
      ],
    ],
    ['promise', [{ type: 'text', text: 'later' }]],
    ['lookalike', [{ type: 'text', text: '{"type":"text","words":3}' }]],
  ])('%s', async (name, content) => {
    const client = await connectTo(new Kinds());
    expect(await client.callTool(name)).toEqual({ content });
  });
});

describe('arguments', () => {
  class Shop {
    received: unknown;

    @Tool()
    order(order: Order) {
      this.received = order;
      return order.lines.length;
    }

    @Tool()
    empty() {
      return 'fine';
    }
  }

  it('reach the method as instances of the DTOs, with defaults', async () => {
    const shop = new Shop();
    const client = await connectTo(shop);
    await client.callTool('order', { id: '1', lines: [{ sku: 'a' }] });
    expect(shop.received).toBeInstanceOf(Order);
    expect((shop.received as Order).lines[0]).toBeInstanceOf(Line);
    expect(shop.received).toEqual({ id: '1', lines: [{ sku: 'a', qty: 1 }] });
  });

  it('that are invalid return a result with isError that lists every field by path [TOOL-09]', async () => {
    const client = await connectTo(new Shop());
    const result = await client.callTool('order', { lines: [{ sku: 'abcdef', qty: 0 }, { sku: 1 }], more: true });
    const [block] = result.content;
    const message = block?.type === 'text' ? block.text : '';
    expect(result.isError).toBe(true);
    for (const field of ['id', 'lines[0].sku', 'lines[0].qty', 'lines[1].sku', 'more'])
      expect(message).toContain(field);
  });

  it('that are not an object are a protocol error [TOOL-10]', async () => {
    const client = await connectTo(new Shop());
    await expect(client.request('tools/call', { name: 'order', arguments: [] })).rejects.toMatchObject({
      code: -32602,
    });
    await expect(client.request('tools/call', { arguments: {} })).rejects.toMatchObject({ code: -32602 });
  });

  it('may be absent', async () => {
    const client = await connectTo(new Shop());
    expect((await client.request('tools/call', { name: 'empty' }))['content']).toEqual([
      { type: 'text', text: 'fine' },
    ]);
  });

  it('for a tool without input are rejected', async () => {
    const client = await connectTo(new Shop());
    expect((await client.callTool('empty', { a: 1 })).isError).toBe(true);
  });
});

describe('a tool with an output schema', () => {
  class Adder {
    @Tool({ output: Sum })
    good() {
      return { sum: 3 };
    }

    @Tool({ output: Sum })
    explicit() {
      return toolResult({ structuredContent: { sum: 3 }, content: '3' });
    }

    @Tool({ output: Sum })
    bad() {
      return { sum: 'three' } as unknown as Sum;
    }

    @Tool({ output: { type: 'array', items: { type: 'number' } } })
    list() {
      return [1, 2];
    }

    @Tool({ output: Sum })
    failed(): Sum {
      throw new ToolError('No sum today');
    }
  }

  it('publishes it, and sends structured content with its JSON as text [TOOL-19] [TOOL-20]', async () => {
    const client = await connectTo(new Adder());
    const [good] = await client.listTools();
    expect(good?.outputSchema).toMatchObject({ type: 'object', properties: { sum: { type: 'number' } } });
    expect(await client.callTool('good')).toEqual({
      content: [{ type: 'text', text: '{"sum":3}' }],
      structuredContent: { sum: 3 },
    });
  });

  it('may provide its own content', async () => {
    const client = await connectTo(new Adder());
    expect(await client.callTool('explicit')).toEqual({
      content: [{ type: 'text', text: '3' }],
      structuredContent: { sum: 3 },
    });
  });

  it('never sends an invalid value, and logs why [TOOL-19]', async () => {
    const errors: unknown[] = [];
    const server = new McpServer({
      name: 'test',
      version: '1',
      providers: [Adder],
      logger: SILENT,
      onError: (e) => errors.push(e),
    });
    const client = await connect(server);
    const result = await client.callTool('bad');
    expect(result).toMatchObject({ isError: true });
    expect(result.structuredContent).toBeUndefined();
    expect(String(errors[0])).toMatch(/output schema.*sum/);
  });

  it('wraps non-objects for session clients, in schema and value [TOOL-21]', async () => {
    const client = await connectTo(new Adder());
    const list = (await client.listTools()).find(({ name }) => name === 'list');
    expect(list?.outputSchema).toMatchObject({
      type: 'object',
      properties: { result: { type: 'array' } },
      required: ['result'],
    });
    expect((await client.callTool('list')).structuredContent).toEqual({ result: [1, 2] });
  });

  it('needs no structured content in an error [TOOL-32]', async () => {
    const client = await connectTo(new Adder());
    expect(await client.callTool('failed')).toEqual({
      content: [{ type: 'text', text: 'No sum today' }],
      isError: true,
    });
  });
});

const SILENT = { warn: () => {}, error: () => {} };

describe('an error of a tool', () => {
  class Thrower {
    @Tool()
    tool() {
      throw new ToolError('Try another city');
    }

    @Tool()
    protocol() {
      throw new McpError(4711, 'Payment required', { price: 3 });
    }

    @Tool()
    crash() {
      throw new Error('secret path /etc/passwd');
    }

    @Tool()
    async reject() {
      await Promise.reject(new TypeError('secret'));
    }

    @Tool()
    odd() {
      throw 'a string';
    }
  }

  it('reaches the model if it is a ToolError [TOOL-11]', async () => {
    const client = await connectTo(new Thrower());
    expect(await client.callTool('tool')).toEqual({
      content: [{ type: 'text', text: 'Try another city' }],
      isError: true,
    });
  });

  it('keeps its code, message and data if it is an McpError', async () => {
    const client = await connectTo(new Thrower());
    await expect(client.callTool('protocol')).rejects.toMatchObject({
      code: 4711,
      message: 'Payment required',
      data: { price: 3 },
    });
  });

  it.each(['crash', 'reject', 'odd'])('is masked otherwise, with a reference that is logged too: %s', async (name) => {
    const seen: { error: unknown; origin: ErrorOrigin }[] = [];
    const server = new McpServer({
      name: 'test',
      version: '1',
      providers: [Thrower],
      logger: SILENT,
      onError: (error, origin) => seen.push({ error, origin }),
    });
    const client = await connect(server);
    const { content, isError } = await client.callTool(name);
    const [block] = content;
    const message = block?.type === 'text' ? block.text : '';
    expect(isError).toBe(true);
    expect(message).not.toContain('secret');
    expect(message).toContain(seen[0]?.origin.reference);
    expect(seen[0]?.origin).toMatchObject({ method: 'tools/call' });
  });

  it('may be thrown by another copy of the package', async () => {
    const foreign = Object.assign(new Error('From the other copy'), { [Symbol.for('decorum:tool-error')]: true });
    class Foreign {
      @Tool()
      fail() {
        throw foreign;
      }
    }
    const client = await connectTo(new Foreign());
    expect(await client.callTool('fail')).toMatchObject({ content: [{ text: 'From the other copy' }] });
  });

  it('is a protocol error for an unknown tool, with at most 200 characters of its name [TOOL-07]', async () => {
    const client = await connectTo(new Thrower());
    const error = await client.callTool('x'.repeat(90_000)).catch((e: unknown) => e as McpError);
    expect(error).toMatchObject({ code: -32602 });
    expect((error as McpError).message.length).toBeLessThan(300);
  });
});

describe('generators', () => {
  class Steps {
    @Tool()
    async *count() {
      yield 1;
      yield { progress: 2, total: 3, message: 'nearly' };
      yield 'done soon';
      return 'done';
    }

    @Tool()
    async *partial() {
      yield 'one';
      yield text('two');
    }
  }

  it('report what they yield as progress, and return their result', async () => {
    const client = await connectTo(new Steps());
    const seen: unknown[] = [];
    const result = await client.callTool('count', {}, { onProgress: (...progress) => seen.push(progress) });
    expect(result.content).toEqual([{ type: 'text', text: 'done' }]);
    expect(seen).toEqual([
      [1, undefined, undefined],
      [2, 3, 'nearly'],
      [3, undefined, 'done soon'],
    ]);
  });

  it('that return nothing use the yielded values as result', async () => {
    const client = await connectTo(new Steps());
    expect((await client.callTool('partial')).content).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]);
  });
});

describe('the context of a tool', () => {
  class Looker {
    @Tool()
    look(_input: NoInput, ctx: Context) {
      const { client, revision, requestId, sessionId, principal, meta, transport } = ctx;
      return { client, revision, requestId, sessionId, principal, meta, transport };
    }
  }

  it('exposes client, request and transport', async () => {
    const server = new McpServer({ name: 'test', version: '1', providers: [Looker] });
    const client = await connect(server, {
      principal: { subject: 'ada' },
      clientInfo: { name: 'tester', version: '2' },
    });
    const { content } = await client.callTool('look', {}, { meta: { 'example.com/trace': 'abc' } });
    const seen = JSON.parse(content[0]?.type === 'text' ? content[0].text : '') as Record<string, unknown>;
    expect(seen).toMatchObject({
      client: { info: { name: 'tester', version: '2' } },
      principal: { subject: 'ada' },
      meta: { 'example.com/trace': 'abc' },
      transport: { kind: 'memory' },
    });
    expect(seen['requestId']).toBeDefined();
  });
});

describe('tools that are functions', () => {
  it('are added and removed at run time', async () => {
    const server = new McpServer({ name: 'test', version: '1', providers: [Kinds] });
    const registration = server.addTool({ name: 'double', input: Line }, ({ qty }: Line) => qty * 2);
    const client = await connect(server);
    expect((await client.callTool('double', { sku: 'a', qty: 4 })).content).toEqual([{ type: 'text', text: '8' }]);
    registration.remove();
    await expect(client.callTool('double', { sku: 'a' })).rejects.toMatchObject({ code: -32602 });
  });

  it('get the context, and no arguments if they have no input', async () => {
    const server = new McpServer({ name: 'test', version: '1' });
    server.addTool({ name: 'who' }, (_input, ctx) => ctx.principal?.subject ?? 'nobody');
    server.addTool({ name: 'typed', output: Line }, (_input, ctx) => ({
      sku: ctx.principal?.subject ?? '',
      qty: 1,
    }));
    const client = await connect(server, { principal: { subject: 'ada' } });
    const inputSchema = { type: 'object', properties: {}, additionalProperties: false };
    expect(await client.listTools()).toMatchObject([{ inputSchema }, { inputSchema }]);
    expect((await client.callTool('who')).content).toEqual([{ type: 'text', text: 'ada' }]);
    expect((await client.callTool('typed')).structuredContent).toEqual({ sku: 'ada', qty: 1 });
    expect((await client.callTool('who', { a: 1 })).isError).toBe(true);
  });
});
