import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';

import {
  Completion,
  Context,
  McpServer,
  type McpServerOptions,
  NoInput,
  Prompt,
  Resource,
  Tool,
  toolResult,
} from '@decorum/core';
import { IsIn, IsInt, IsNumber, IsString, Max, Min } from 'class-validator';

class Addends {
  @IsNumber() a!: number;
  @IsNumber() b!: number;
}

class Steps {
  @IsInt() @Min(0) @Max(100_000) steps!: number;
  /** Characters of each message. */
  @IsInt() @Min(0) @Max(10_000) size = 0;
}

class Question {
  @IsIn(['elicit', 'sample', 'roots']) how!: 'elicit' | 'sample' | 'roots';
}

class Name {
  @IsString() name!: string;
}

class Place {
  @IsString() uri!: string;
}

class ItemId {
  @IsString() id!: string;
}

/** Tools that answer, stream, ask, log, fail, and wait until they are cancelled. */
class SoakTools {
  /** Calls whose handler is running. */
  running = 0;
  private server: McpServer | undefined;

  onStart(server: McpServer): void {
    this.server = server;
  }

  @Tool({ description: 'Adds two numbers' })
  add({ a, b }: Addends) {
    return toolResult({ content: String(a + b), structuredContent: { sum: a + b } });
  }

  @Tool({ description: 'Adds two numbers later' })
  async later({ a, b }: Addends) {
    return await this.counted(async () => {
      await setImmediate();
      return String(a + b);
    });
  }

  @Tool({ description: 'Reports progress' })
  async progress({ steps, size }: Steps, ctx: Context) {
    const message = 'x'.repeat(size);
    return await this.counted(async () => {
      for (let step = 1; step <= steps && !ctx.signal.aborted; step += 1) {
        ctx.progress(step, steps, message);
        if (step % 10 === 0) await setImmediate();
      }
      return 'done';
    });
  }

  @Tool({ description: 'Disconnects the client and reports progress' })
  async interrupt({ steps }: Steps, ctx: Context) {
    return await this.counted(async () => {
      ctx.progress(1, steps);
      ctx.closeStream({ retryMs: 5 });
      for (let step = 2; step <= steps; step += 1) {
        ctx.progress(step, steps);
        await setImmediate();
      }
      return 'done';
    });
  }

  @Tool({ description: 'Writes to the log' })
  async log({ steps }: Steps, ctx: Context) {
    return await this.counted(async () => {
      for (let step = 1; step <= steps; step += 1) ctx.log.warning(`Step ${step}`);
      return 'done';
    });
  }

  @Tool({ description: 'Asks twice' })
  async ask({ how }: Question, ctx: Context) {
    return await this.counted(async () => `${await answer(ctx, how)} ${await answer(ctx, how)}`);
  }

  @Tool({ description: 'Waits for its cancellation' })
  async wait(_input: NoInput, ctx: Context) {
    return await this.counted(async () => {
      ctx.progress(1);
      if (!ctx.signal.aborted) await once(ctx.signal, 'abort');
    });
  }

  @Tool({ description: 'Fails' })
  fail() {
    throw new Error('This tool always fails.');
  }

  @Tool({ description: 'Announces that a resource has changed' })
  touch({ uri }: Place) {
    this.server?.notify.resourceUpdated(uri);
    return 'done';
  }

  @Resource('soak://{id}', { description: 'An item', mimeType: 'application/json' })
  item({ id }: ItemId) {
    return { id };
  }

  @Prompt({ description: 'A greeting' })
  greet({ name }: Name) {
    return `Greet ${name}.`;
  }

  @Completion({ for: 'greet', argument: 'name' })
  names(typed: string) {
    return [`${typed}a`, `${typed}b`];
  }

  private async counted<T>(run: () => Promise<T>): Promise<T> {
    this.running += 1;
    try {
      return await run();
    } finally {
      this.running -= 1;
    }
  }
}

async function answer(ctx: Context, how: Question['how']): Promise<string> {
  if (how === 'elicit') {
    const reply = await ctx.elicit(Name, { message: 'Who are you?' });
    return reply.action === 'accept' ? `accept ${reply.content.name}` : reply.action;
  }
  if (how === 'sample') return (await ctx.sample({ messages: 'Who are you?', maxTokens: 10 })).text;
  return (await ctx.roots()).map(({ uri }) => uri).join();
}

/** Creates the server of the soak. */
export function createSoakServer(more: Partial<McpServerOptions> = {}): {
  readonly server: McpServer;
  readonly running: () => number;
} {
  const tools = new SoakTools();
  const server = new McpServer({
    name: 'soak',
    version: '1.0.0',
    providers: [tools],
    secret: 'a secret of the soak, which protects nothing',
    // thousands of masked errors are expected
    logger: { warn: () => {}, error: () => {} },
    ...more,
  });
  return { server, running: () => tools.running };
}
