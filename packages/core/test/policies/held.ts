import {
  Completion,
  type Context,
  McpServer,
  type McpServerOptions,
  NoInput,
  type PolicyOptions,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { revisions, type TestClient } from '@decorum/testing';
import { IsString } from 'class-validator';

import { SILENT } from '../kernel/serving.js';

/** A count whose changes can be awaited. */
export class Counter {
  count = 0;
  private changed: (() => void)[] = [];

  add(): void {
    this.count += 1;
    for (const changed of this.changed.splice(0)) changed();
  }

  /** Waits until it has reached a number. */
  async reaches(count: number): Promise<void> {
    while (this.count < count) await new Promise<void>((resolve) => this.changed.push(resolve));
  }
}

interface Run {
  readonly ctx: Context;
  resolve(value: string): void;
  reject(error: Error): void;
}

/** Handlers that run until the test ends them. */
export class Held {
  /** Runs that have begun. */
  readonly begun = new Counter();
  /** Calls that have reached the member. */
  readonly arrived = new Counter();
  readonly runs: Run[] = [];

  hold(ctx: Context): Promise<string> {
    const running = new Promise<string>((resolve, reject) => this.runs.push({ ctx, resolve, reject }));
    this.begun.add();
    return running;
  }

  /** Ends the run with this number, the first being 0. */
  end(index: number, value = 'done'): void {
    this.runs[index]?.resolve(value);
  }
}

class Id {
  @IsString() id!: string;
}

/** A server with one member of each kind, all with these options, whose handlers run until the test ends them. */
export function heldServer(options: PolicyOptions, more: Partial<McpServerOptions> = {}) {
  const held = new Held();
  class Shop {
    @Tool({ ...options, annotations: { readOnlyHint: true } }) tool(_input: NoInput, ctx: Context) {
      return held.hold(ctx);
    }
    @Prompt(options) prompt(_input: NoInput, ctx: Context) {
      return held.hold(ctx);
    }
    @Resource('shop://stock', options) resource(_input: NoInput, ctx: Context) {
      return held.hold(ctx);
    }
    @Prompt() ask({ id }: Id) {
      return id;
    }
    @Completion({ for: 'ask', argument: 'id', ...options }) async completion(_typed: string, ctx: Context) {
      return [await held.hold(ctx)];
    }
  }
  const server = new McpServer({
    name: 'test',
    version: '1',
    logger: SILENT,
    providers: [Shop],
    interceptors: [
      (_call, next) => {
        const running = next();
        held.arrived.add();
        return running;
      },
    ],
    ...more,
  });
  return { server, held };
}

/** Calls of each kind of member, which resolve with the text that a handler returned, or of an error. */
export const CALLS: Readonly<Record<string, (client: TestClient) => Promise<string>>> = {
  tool: async (client) => JSON.stringify((await client.callTool('tool')).content),
  prompt: async (client) => JSON.stringify((await client.getPrompt('prompt')).messages),
  resource: async (client) => JSON.stringify((await client.readResource('shop://stock')).contents),
  completion: async (client) => String((await client.complete({ prompt: 'ask' }, { name: 'id', value: '' })).values),
};

export const KINDS = Object.keys(CALLS);

const VIAS = ['memory', 'stdio', 'http'] as const;

/** Each pair of a kind of member and a revision, and each of these with a transport. */
export const PAIRS = KINDS.flatMap((kind, row) =>
  revisions.map((revision, column) => ({ kind, revision, via: VIAS[(row + column) % VIAS.length]! })),
);

/** The text of an answer, or the message of an error. */
export const said = (answer: Promise<string>) => answer.catch(({ message }: Error) => message);
