import {
  Completion,
  type Context,
  type KeyValueStore,
  MemoryKeyValueStore,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';
import { connect, type ConnectOptions, revisions, type TestClient } from '@decorum/testing';
import { IsString } from 'class-validator';

import { reporting, textOf } from '../kernel/serving.js';

export type Handler = (ctx: Context, args: { readonly [name: string]: unknown }) => unknown;

const ANY = { type: 'object' } as const;

export class Id {
  @IsString() id!: string;
}

/** A server with a member of each kind, which all do what the test says. */
export function remembering(handler: Handler, options: Parameters<typeof reporting>[0] = {}) {
  const acting = { handler };
  class Shop {
    @Tool({ input: ANY }) async tool(args: object, ctx: Context) {
      return text(await acting.handler(ctx, args as never));
    }
    @Prompt() async prompt({ id }: Id, ctx: Context) {
      return text(await acting.handler(ctx, { id }));
    }
    @Resource('shop://{+id}') async resource({ id }: Id, ctx: Context) {
      return text(await acting.handler(ctx, { id }));
    }
    @Completion({ for: 'prompt', argument: 'id' }) async completion(id: string, ctx: Context) {
      return [text(await acting.handler(ctx, { id }))];
    }
  }
  return { ...reporting({ providers: [Shop], ...options }), acting };
}

const text = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));

/** A client, and a function that calls the tool. */
export async function clientOf(server: Parameters<typeof connect>[0], options: ConnectOptions = {}) {
  const client = await connect(server, options);
  const call = async (args: object = {}) => textOf(await client.callTool('tool', args)) as string;
  return { client, call };
}

/** Calls of each kind of member. */
export const KINDS: Readonly<Record<string, (client: TestClient, id: string) => Promise<string>>> = {
  tool: async (client, id) => String(textOf(await client.callTool('tool', { id }))),
  prompt: async (client, id) => {
    const { messages } = await client.getPrompt('prompt', { id });
    return (messages[0]!.content as { text: string }).text;
  },
  resource: async (client, id) => {
    const { contents } = await client.readResource(`shop://${id}`);
    return (contents[0] as { text: string }).text;
  },
  completion: async (client, id) =>
    String((await client.complete({ prompt: 'prompt' }, { name: 'id', value: id })).values),
};

const VIAS = ['memory', 'stdio', 'http'] as const;

/** Each kind of member in each revision, and each of these over one transport. */
export const PAIRS = Object.keys(KINDS).flatMap((kind, row) =>
  revisions.map((revision, column) => ({ kind, revision, via: VIAS[(row + column) % VIAS.length]! })),
);

/** A store that counts what is written. */
export class CountingStore extends MemoryKeyValueStore {
  writes = 0;

  override set(...args: Parameters<MemoryKeyValueStore['set']>): boolean {
    const isStored = super.set(...args);
    if (isStored) this.writes += 1;
    return isStored;
  }
}

/** A store that other processes share: everything takes a turn, so that changes race. */
export function shared(store: KeyValueStore): KeyValueStore {
  const later = async <R>(act: () => R | Promise<R>): Promise<R> => {
    await new Promise((resolve) => setImmediate(resolve));
    return await act();
  };
  return {
    isDurable: false,
    get: (key) => later(() => store.get(key)),
    set: (key, value, options) => later(() => store.set(key, value, options)),
    delete: (key, expected) => later(() => store.delete(key, expected)),
  };
}
