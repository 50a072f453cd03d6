import { type JsonObject, McpError } from '@decorum/core';
import { repeating } from '@decorum/core/internal';
import type { RequestOutcome } from '@decorum/core/plugin';
import type { Host } from '@decorum/core/transport';

import { overMemory } from '../carriers/memory.js';
import { Connection } from '../connection.js';
import type { Question } from '../questions.js';
import { inRounds } from '../rounds.js';
import type { ReadRecording, RecordedOutcome } from './recording.js';

/** How a call ended that was made again. */
export interface ReplayedOutcome extends RecordedOutcome {
  /** The error that the handler threw, before masking. */
  readonly thrown?: unknown;
  /** The result, as sent. */
  readonly result?: JsonObject | undefined;
}

/** A recorded call, and the same call of today's code. */
export interface Replay {
  /** How the call ended when it was recorded. */
  readonly recorded: RecordedOutcome;
  /** How it ends now. */
  readonly replayed: ReplayedOutcome;
  /** What is different now, such as `cause: bug → expected`. Empty if the call ends as it did. */
  readonly differences: readonly string[];
  /** Why the call fails now; undefined if it doesn't. */
  readonly failure: string | undefined;
}

/** A server of this process. */
type Server = Parameters<typeof repeating>[0];

/** Answers questions as the client has answered them. */
class AnswerScript {
  /** Questions that the recording has no answer to. */
  readonly unknown: string[] = [];
  private readonly left: ReadRecording['asked'][number][];

  constructor(asked: ReadRecording['asked']) {
    this.left = [...asked];
  }

  async answer({ method, params: { message } }: Question, signal: AbortSignal): Promise<object> {
    const same = this.left.findIndex((each) => each.method === method && each.message === message);
    const at = same === -1 ? this.left.findIndex((each) => each.method === method) : same;
    const [found] = at === -1 ? [] : this.left.splice(at, 1);
    if (found === undefined) {
      this.unknown.push(typeof message === 'string' ? message : method);
      throw new McpError('method-not-found', 'The recording has no answer to this question.');
    }
    if (found.answer !== undefined) return found.answer;
    if (found.error !== undefined) throw new McpError(found.error.code, found.error.message);
    // the client has never answered
    return await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  }
}

/** Milliseconds that a call may take, unless the user says otherwise. */
const TIMEOUT_MS = 30_000;

/**
 * Makes a recorded call again, in memory: in its revision, as its caller, with the answers of its client. Effects that
 * have a recorded result don't run again.
 * @param timeoutMs milliseconds after which the client stops waiting
 */
export async function replay(recording: ReadRecording, server: Server, timeoutMs = TIMEOUT_MS): Promise<Replay> {
  const { asked, transport, effects, method, outcome: recorded } = recording;
  const ends: RequestOutcome[] = [];
  const host = repeating(server, {
    transport: { kind: transport, ...(transport === 'http' && { headers: {} }) },
    effects,
    ended: (request, outcome) => void (request.method === method && ends.push(outcome)),
  });
  const script = new AnswerScript(asked);
  // a client that has stopped waiting does so again
  const ms = recorded.cause === 'cancelled' ? Math.min(recorded.milliseconds, timeoutMs) : timeoutMs;
  const thrown = await call(recording, { host, script, ms });
  const unfinished = script.unknown.length > 0 ? UNANSWERED : `The call did not end within ${ms} ms.`;
  const replayed = ends.length > 0 ? outcomeOf(ends.at(-1), unfinished) : refusalOf(thrown, unfinished);
  const differences = [...differencesOf(recorded, replayed), ...unanswered(script)];
  return { recorded, replayed, differences, failure: failureOf(replayed) };
}

interface Calling {
  readonly host: Host;
  readonly script: AnswerScript;
  /** How long the client waits. */
  readonly ms: number;
}

/** Makes a call. Returns what the client gets in place of a result. */
async function call(recording: ReadRecording, { host, script, ms }: Calling): Promise<unknown> {
  const { era, revision, client, principal, method, params } = recording;
  const identity = { era, revision, capabilities: client.capabilities, clientInfo: client.info };
  const stop = new AbortController();
  const connection = new Connection(identity, {
    ask: async (question) => await script.answer(question, stop.signal),
    timeoutMs: 0,
  });
  await connection.start(overMemory(host, principal));
  let timer: NodeJS.Timeout | undefined;
  try {
    if (era === 'stateful') await connection.initialize();
    timer = setTimeout(() => stop.abort(new Error('The client has stopped waiting.')), ms);
    const sent = inRounds(connection, { method, params, options: { signal: stop.signal } });
    return await sent.then(
      () => undefined,
      (error: unknown) => error,
    );
  } finally {
    clearTimeout(timer);
    stop.abort();
    await connection.close();
  }
}

/** Why a call has not ended whose client can't say that it has no answer. */
const UNANSWERED = 'The call waits for an answer that the recording does not have.';

/**
 * The outcome of a message that the server could not read, so it ended no call.
 * @param unfinished why the call has not ended, if it has not
 */
function refusalOf(thrown: unknown, unfinished: string): ReplayedOutcome {
  if (!(thrown instanceof McpError)) return outcomeOf(undefined, unfinished);
  return { status: 'error', cause: 'invalid-request', code: thrown.code, message: thrown.message };
}

function outcomeOf(end: RequestOutcome | undefined, unfinished: string): ReplayedOutcome {
  if (end === undefined || end.status === 'input-required')
    return { status: 'cancelled', cause: 'cancelled', message: unfinished };
  const { status, cause, code, error: thrown, result } = end;
  return {
    status,
    ...(cause !== undefined && { cause }),
    ...(code !== undefined && { code }),
    message: end.message ?? (status === 'tool-error' ? textOf(result) : undefined),
    ...(thrown !== undefined && { error: classOf(thrown), thrown }),
    result,
  };
}

function textOf(result: JsonObject | undefined): string {
  const content = result?.['content'];
  const blocks = (Array.isArray(content) ? content : []) as readonly { readonly text?: unknown }[];
  return blocks.flatMap(({ text }) => text ?? []).join('\n');
}

function classOf(error: unknown): string {
  const { name } = Object(error) as { readonly name?: unknown };
  return error instanceof Error && typeof name === 'string' ? name : typeof error;
}

const COMPARED = ['status', 'cause', 'code', 'error'] as const;

const differencesOf = (recorded: RecordedOutcome, replayed: RecordedOutcome): readonly string[] =>
  COMPARED.filter((field) => recorded[field] !== replayed[field]).map(
    (field) => `${field}: ${recorded[field] ?? 'none'} → ${replayed[field] ?? 'none'}`,
  );

const unanswered = ({ unknown }: AnswerScript): readonly string[] =>
  unknown.map((message) => `question: ${JSON.stringify(message)} has no answer in the recording`);

function failureOf({ status, cause, message, thrown }: ReplayedOutcome): string | undefined {
  if (status === 'ok') return undefined;
  // what was masked says nothing
  const told = cause === 'bug' && thrown instanceof Error ? `${classOf(thrown)}: ${thrown.message}` : message;
  return [cause ?? status, told].filter(Boolean).join(': ');
}
