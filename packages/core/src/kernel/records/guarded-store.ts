import { isPromise, within } from '@decorum/schema/internal';

import { McpError } from '../../protocol/errors.js';
import type { ErrorReporter } from '../error-reporter.js';
import type { KeyValueStore } from './key-value-store.js';

/** Milliseconds within which the store must answer. */
const STORE_MS = 3000;

type Method = 'get' | 'set' | 'delete';

/** Gives the operator the details that the client's error leaves out. */
export type StoreReporter = Pick<ErrorReporter, 'report'>;

/** The store did not answer in time. */
export class SilentStore extends McpError {
  constructor() {
    super('unavailable', UNAVAILABLE);
  }
}

/** The error for clients if the records can't be reached. */
export const unavailable = (): McpError => new McpError('unavailable', UNAVAILABLE);

/**
 * A store whose methods reject in time, and with an error for clients. The first failure of a method is reported, and
 * not the next ones until it works again: clients repeat their calls.
 */
export class GuardedStore {
  private readonly failing = new Set<Method>();

  constructor(
    private readonly store: KeyValueStore,
    private readonly reporter: StoreReporter,
  ) {}

  async get(key: string): Promise<string | undefined> {
    return await this.reach('get', () => this.store.get(key), textOrNone);
  }

  async set(
    key: string,
    value: string,
    options: { readonly ttlMs: number; readonly expected: string | undefined },
  ): Promise<boolean> {
    try {
      return await this.reach('set', () => this.store.set(key, value, options), yesOrNo);
    } catch (error) {
      // it may have stored the value nevertheless
      if (isUnclear(error) && (await this.get(key)) === value) return true;
      throw error;
    }
  }

  async delete(key: string, expected: string): Promise<boolean> {
    try {
      return await this.reach('delete', () => this.store.delete(key, expected), yesOrNo);
    } catch (error) {
      if (isUnclear(error) && (await this.get(key)) === undefined) return true;
      throw error;
    }
  }

  private async reach<R, T>(
    method: Method,
    call: () => R | Promise<R>,
    read: (answer: R, method: Method) => T,
  ): Promise<T> {
    try {
      const called = call();
      const answer = isPromise(called) ? await within(STORE_MS, silenceOf(method), () => called) : called;
      const value = read(answer, method);
      this.failing.delete(method);
      return value;
    } catch (error) {
      if (!this.failing.has(method)) this.reporter.report(error, undefined, `\`${method}\` of \`store\` failed`);
      this.failing.add(method);
      if (error instanceof McpError) throw error;
      throw (error as Partial<Error> | undefined)?.message === silenceOf(method) ? new SilentStore() : unavailable();
    }
  }
}

const silenceOf = (method: Method) => `\`${method}\` of \`store\` did not answer within ${STORE_MS} ms.`;

/** Whether the store may have done what it was asked for, and may say so now. */
const isUnclear = (error: unknown): boolean =>
  error instanceof McpError && error.kind === 'unavailable' && !(error instanceof SilentStore);

function textOrNone(answer: unknown): string | undefined {
  if (answer === undefined || answer === null) return undefined;
  if (typeof answer === 'string') return answer;
  throw new TypeError(`\`get\` of \`store\` must return a string, undefined or null, but returned ${typeOf(answer)}.`);
}

function yesOrNo(answer: unknown, method: Method): boolean {
  if (typeof answer === 'boolean') return answer;
  const found = answer === null || answer === undefined ? String(answer) : typeOf(answer);
  throw new TypeError(`\`${method}\` of \`store\` must return whether it did so, but returned ${found}.`);
}

const typeOf = (answer: unknown): string =>
  Array.isArray(answer) ? 'an array' : typeof answer === 'object' ? 'an object' : `a ${typeof answer}`;

const UNAVAILABLE = 'The server cannot reach its data. Try again later.';
