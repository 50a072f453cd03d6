import { setImmediate } from 'node:timers/promises';

import { Context, McpServer, type McpServerOptions, Prompt, Resource, Tool, toolResult } from '@decorum/core';
import { IsInt, IsNumber, IsString, Min } from 'class-validator';

import { Order } from './order.js';

class Addends {
  @IsNumber() a!: number;
  @IsNumber() b!: number;
}

class Blob {
  @IsString() data!: string;
}

class Steps {
  @IsInt() @Min(0) n!: number;
}

class ItemId {
  @IsString() id!: string;
}

class Greeted {
  @IsString() name!: string;
}

const add = ({ a, b }: Addends) => {
  const sum = a + b;
  return toolResult({ content: String(sum), structuredContent: { sum } });
};

class BenchTools {
  @Tool({ description: 'Adds two numbers' })
  add(addends: Addends) {
    return add(addends);
  }

  @Tool({ description: 'Gives an order back' })
  echo(order: Order) {
    return order;
  }

  @Tool({ description: 'Gives the length of a text' })
  blob({ data }: Blob) {
    return data.length;
  }

  @Tool({ description: 'Reports progress n times' })
  async progress({ n }: Steps, ctx: Context) {
    const { signal } = ctx;
    for (let step = 1; step <= n && !signal.aborted; step += 1) {
      ctx.progress(step, n);
      // progress for a slow reader is dropped, so let the socket flush now and then
      if (step % 200 === 0) await setImmediate();
    }
    return 'done';
  }

  @Resource('item://{id}', { description: 'An item by its id' })
  item({ id }: ItemId) {
    return { id };
  }

  @Prompt({ description: 'A greeting' })
  greet({ name }: Greeted) {
    return `Greet ${name}.`;
  }
}

/**
 * Creates the server to measure.
 * @param moreTools number of additional tools shaped like `add`
 * @param options options of the server, such as plugins; by default, none
 */
export function createBenchServer(moreTools = 0, options: Partial<McpServerOptions> = {}): McpServer {
  const server = new McpServer({
    name: 'bench',
    version: '1.0.0',
    providers: [BenchTools],
    // all tools on one page, so that listing them is a single response
    pageSize: moreTools + 100,
    ...options,
  });
  for (let index = 1; index <= moreTools; index += 1) {
    server.addTool({ name: `add_${index}`, description: 'Adds two numbers', input: Addends }, add);
  }
  return server;
}
