import { INITIALIZE } from '@decorum/core/internal';

import { RequestCounts } from '../request-counts.js';
import { endedFailure, isJson, type Json, keyOf } from '../message.js';
import type { Program } from '../program.js';

/** A client's request in flight. */
interface Call {
  readonly program: Program;
  readonly message: Json;
  /** Ends counting it. */
  readonly end: () => void;
}

/** The id in a line that is no valid message, as a key. */
function idIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJson(value) && value['id'] !== undefined ? keyOf(value['id']) : undefined;
  } catch {
    return undefined;
  }
}

/** The client's requests in flight over stdio. Each gets one response at most, and none after it was cancelled. */
export class Calls {
  private readonly inFlight = new RequestCounts();
  private readonly calls = new Map<string, Call>();
  /** The ids in lines that are no valid messages: a program may answer them all the same. */
  private readonly invalid = new Set<string>();

  add(message: Json, program: Program): void {
    const key = keyOf(message['id']);
    const other = this.calls.get(key);
    // the program rejects an id that is in use, without saying which
    if (other?.program === program) return;
    other?.end();
    this.calls.set(key, { program, message, end: this.inFlight.begin(program) });
  }

  /** Expects a response to a line that is no valid message. */
  expect(text: string): void {
    const key = idIn(text);
    if (key !== undefined) this.invalid.add(key);
  }

  /** The program that handles a request. */
  programOf(key: string): Program | undefined {
    return this.calls.get(key)?.program;
  }

  /** Removes the request that a program has answered, and returns it. */
  answered(program: Program, key: string): Json | undefined {
    const call = this.calls.get(key);
    if (call?.program !== program) return undefined;
    this.calls.delete(key);
    call.end();
    return call.message;
  }

  /** Whether a response to a line that is no valid message is due. */
  answersInvalid(key: string): boolean {
    return this.invalid.delete(key);
  }

  /** Removes a cancelled request: nobody waits for its response any more, so it doesn't keep its program alive. */
  cancel(key: string): void {
    const call = this.calls.get(key);
    // clients can't cancel it (MCP, "Cancellation"), so the program answers
    if (!call || call.message['method'] === INITIALIZE) return;
    this.calls.delete(key);
    call.end();
  }

  /** Removes the requests of a program, or of all. Returns their responses. */
  fail(program: Program | undefined, problem: string): Json[] {
    const lost = [...this.calls].filter(([, call]) => program === undefined || call.program === program);
    return lost.map(([key, { message, end }]) => {
      this.calls.delete(key);
      end();
      return endedFailure(message['id'], problem);
    });
  }

  /** Resolves when a program has no requests in flight. */
  idle(program: Program): Promise<void> {
    return this.inFlight.idle(program);
  }

  /** Resolves when no requests are in flight. */
  allIdle(): Promise<void> {
    return this.inFlight.allIdle();
  }
}
