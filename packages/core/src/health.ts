import { invalidOption, requireOptions, within } from '@decorum/schema/internal';

import { definePlugin } from './plugin.js';
import { requireRoutePath, type RouteAnswer, type RouteRequest } from './transports/route.js';
import { HOST } from './transports/transport.js';

/** Checks something that the server depends on. It fails if it throws, rejects, or returns `false`. */
export type HealthCheck = () => unknown;

/** Options of `health`. */
export interface HealthOptions {
  /** Checks by name. Anybody can read the names, and whether each check passes. */
  readonly checks?: Readonly<Record<string, HealthCheck>>;
  /** Milliseconds after which a check fails, 1 to 3,600,000. Defaults to 1000. */
  readonly timeoutMs?: number;
  /** Path that reports whether the process is running. Defaults to `/healthz`. */
  readonly livePath?: string;
  /** Path that reports whether the server accepts requests. Defaults to `/readyz`. */
  readonly readyPath?: string;
}

const HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

const answer = (status: 200 | 503, checks?: Readonly<Record<string, 'ok' | 'failed'>>): RouteAnswer => ({
  status,
  headers: HEADERS,
  body: JSON.stringify({ status: status === 200 ? 'ok' : 'unavailable', ...(checks && { checks }) }),
});

/** One check. Only one run is in progress at a time, however many requests ask, and even if the check hangs. */
class Check {
  /** The run in progress. */
  private running: Promise<unknown> | undefined;
  private asked: Promise<boolean> | undefined;
  private hasFailed = false;

  constructor(
    readonly name: string,
    private readonly check: HealthCheck,
    private readonly timeoutMs: number,
  ) {}

  /** Whether the check passes. Never rejects. */
  passes(request: RouteRequest): Promise<boolean> {
    this.asked ??= this.ask(request).finally(() => {
      this.asked = undefined;
    });
    return this.asked;
  }

  /** Of several failures in a row, reports only the first. */
  private async ask(request: RouteRequest): Promise<boolean> {
    try {
      const problem = `It did not end within ${this.timeoutMs} ms.`;
      if ((await within(this.timeoutMs, problem, () => this.run())) === false) throw new Error('It returned false.');
      this.hasFailed = false;
    } catch (cause) {
      if (!this.hasFailed) request.report(new Error(`The health check "${this.name}" failed.`, { cause }));
      this.hasFailed = true;
    }
    return !this.hasFailed;
  }

  /** Starts a run, unless one is in progress. Otherwise, runs that hang would pile up. */
  private run(): Promise<unknown> {
    const { check } = this;
    this.running ??= (async () => await check())().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }
}

function checksOf({ checks = {}, timeoutMs = 1000 }: HealthOptions): readonly Check[] {
  if (checks instanceof Map) {
    throw invalidOption('health', 'checks', 'is a Map. Write an object: { db: async () => … }');
  }
  return Object.entries(checks).map(([name, check]) => {
    if (typeof check === 'function') return new Check(name, check, timeoutMs);
    throw invalidOption('health', `checks.${name}`, 'is not a function. Write `async () => …`');
  });
}

/**
 * A plugin for load balancers and orchestrators. `GET /healthz` responds with 200 while the process runs. `GET /readyz`
 * responds with 503 while a check fails, while the server's `cluster` can't be reached, and once the server or its
 * endpoint begins to close.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { health, McpServer } from '@decorum/core';
 *
 * const checks = { orders: async () => (await fetch('http://127.0.0.1:8080/up')).ok };
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [health({ checks })] });
 * ```
 */
export const health = definePlugin((options: HealthOptions = {}) => {
  requireOptions('health', options, {
    checks: 'object',
    timeoutMs: [1, 3_600_000],
    livePath: 'string',
    readyPath: 'string',
  });
  const { livePath = '/healthz', readyPath = '/readyz' } = options;
  requireRoutePath('health', ['livePath', livePath], '/healthz');
  requireRoutePath('health', ['readyPath', readyPath], '/readyz');
  const checks = [...checksOf(options)];
  return {
    name: 'health',
    onStart(server) {
      const { cluster } = server[HOST].sharing;
      if (cluster?.ping) checks.push(new Check('cluster', () => cluster.ping?.(), options.timeoutMs ?? 1000));
    },
    routes: [
      { method: 'GET', path: livePath, handle: () => answer(200) },
      {
        method: 'GET',
        path: readyPath,
        async handle(request) {
          if (request.closing) return answer(503);
          const passed = await Promise.all(checks.map((check) => check.passes(request)));
          const isReady = passed.every(Boolean) && !request.closing;
          const shown = checks.map(({ name }, index) => [name, passed[index] ? 'ok' : 'failed'] as const);
          return answer(isReady ? 200 : 503, checks.length > 0 ? Object.fromEntries(shown) : undefined);
        },
      },
    ],
  };
});
