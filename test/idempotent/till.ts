// A server whose tools run once for each idempotency key, and clients of it.
import { randomUUID } from 'node:crypto';

import {
  type Context,
  type IdempotentOptions,
  type JsonObject,
  type KeyValueStore,
  McpServer,
  type McpServerOptions,
  Tool,
  type ToolOptions,
} from '@decorum/core';
import { connect, type ConnectOptions } from '@decorum/testing';

export const KEY = 'dev.decorum/idempotency-key';

const ANY = { type: 'object' } as const;
export const SECRET = 'x'.repeat(32);

/** What a run of the tool does. `runs` is the number of this run. */
type Pay = (run: { readonly runs: number; readonly args: JsonObject; readonly ctx: Context }) => unknown;

export interface TillOptions extends Partial<McpServerOptions> {
  readonly idempotent?: string | number | IdempotentOptions;
  readonly tool?: Partial<ToolOptions>;
}

/** A server with the tool `pay`. */
export function till(pay: Pay = ({ runs }) => `paid ${runs}`, { idempotent = '24h', tool, ...more }: TillOptions = {}) {
  const made = { runs: 0, errors: [] as unknown[], warnings: [] as string[] };
  class Till {
    @Tool({ input: ANY, idempotent, ...(tool as object) })
    pay(args: JsonObject, ctx: Context): unknown {
      made.runs += 1;
      return pay({ runs: made.runs, args, ctx });
    }
  }
  const server = new McpServer({
    name: 'till',
    version: '1',
    providers: [Till],
    secret: SECRET,
    logger: { warn: (_details: object, message: string) => void made.warnings.push(message), error() {} },
    onError: (error: unknown) => void made.errors.push(error),
    ...more,
  });
  const customer = async (options: ConnectOptions = {}) => {
    const client = await connect(server, options);
    const call = async (key?: unknown, args: object = {}, name = 'pay') =>
      await client.callTool(name, args, key === undefined ? {} : { meta: { [KEY]: key } });
    return { client, call };
  };
  return { made, server, customer };
}

/** The text of a result, or the message of an error. */
export async function said(call: Promise<object>): Promise<string> {
  try {
    const { content, isError } = (await call) as { content: { text: string }[]; isError?: boolean };
    return `${isError ? 'error: ' : ''}${content[0]?.text}`;
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
}

/** A store that fails while the test says so. */
export class ShakyStore implements KeyValueStore {
  readonly isDurable = true;
  isDown = false;

  /** @param values what all stores have that processes share */
  constructor(readonly values = new Map<string, string>()) {}

  get(key: string): string | undefined {
    this.requireUp();
    return this.values.get(key);
  }

  set(key: string, value: string, { expected }: { readonly expected: string | undefined }): boolean {
    this.requireUp();
    if (this.values.get(key) !== expected) return false;
    this.values.set(key, value);
    return true;
  }

  delete(key: string, expected: string): boolean {
    this.requireUp();
    return this.values.get(key) === expected && this.values.delete(key);
  }

  private requireUp(): void {
    if (this.isDown) throw new Error('The store is down.');
  }
}

/** A promise, and what settles it. */
export function held<T = string>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}

export const newKey = () => randomUUID();
