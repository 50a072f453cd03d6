import type { Program } from './program.js';

const ALWAYS_ANSWERED = new Set(['initialize', 'ping', 'server/discover', 'logging/setLevel', 'subscriptions/listen']);

/** The program that serves new requests. Only the supervisor changes it. */
export class ActiveProgram {
  /** Undefined while one is starting, and after it has died. */
  current: Program | undefined;
  /** Whether a program has ever served. Before, clients that list are told of empty lists, not of an error. */
  hasServed = false;
  /** Why no program serves, as clients are told. */
  problem: string | undefined;
  private readonly waiting: ((program: Program) => void)[] = [];

  /** Makes a program serve new requests, and those that wait for one. */
  activate(program: Program): void {
    this.current = program;
    for (const resolve of this.waiting.splice(0)) resolve(program);
  }

  /** Resolves with the current program, once there is one. */
  async serving(): Promise<Program> {
    return this.current ?? (await new Promise<Program>((resolve) => this.waiting.push(resolve)));
  }

  /** Why a method, or anything that isn't MCP, can't be called now; undefined if it can. */
  refusal(method = ''): string | undefined {
    if (!this.current?.isStandIn || ALWAYS_ANSWERED.has(method)) return undefined;
    if (!this.hasServed && method.endsWith('/list')) return undefined;
    return this.problem === undefined ? 'The program is still starting.' : `The program has ended: ${this.problem}`;
  }
}
