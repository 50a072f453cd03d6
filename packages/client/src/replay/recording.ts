import type { ClientCapabilities, FailureCause, Implementation, JsonObject, Principal } from '@decorum/core';
import { type Era, isObject, isScope, revisionOf, REVISIONS } from '@decorum/core/internal';
import type { Effect } from '@decorum/core/plugin';

/** How a call ended, as far as two calls can be compared. */
export interface RecordedOutcome {
  readonly status: 'ok' | 'tool-error' | 'error' | 'cancelled';
  readonly cause?: FailureCause | undefined;
  /** The code of the JSON-RPC error. */
  readonly code?: number | undefined;
  /** What the client was told. */
  readonly message?: string | undefined;
  /** The name of the class of the error that was thrown. */
  readonly error?: string | undefined;
}

/** An answer of the client. It has sent neither a result nor an error if it didn't answer in time. */
export interface ReadAnswer {
  readonly method: string;
  readonly message?: string | undefined;
  readonly answer?: JsonObject | undefined;
  readonly error?: { readonly code: number; readonly message: string } | undefined;
}

/** A recording that can be replayed. */
export interface ReadRecording {
  readonly at: string;
  readonly server: { readonly name: string; readonly version: string };
  readonly revision: string;
  readonly era: Era;
  readonly transport: string;
  readonly client: { readonly info: Implementation; readonly capabilities: ClientCapabilities };
  readonly member: { readonly kind: string; readonly name: string | undefined };
  readonly method: string;
  readonly params: JsonObject;
  readonly principal: Principal | undefined;
  readonly asked: readonly ReadAnswer[];
  readonly effects: readonly Effect[];
  readonly outcome: RecordedOutcome & { readonly milliseconds: number };
}

/** Thrown for what can't be replayed. */
export class UnreadableRecording extends Error {
  override readonly name = 'UnreadableRecording';
}

/** The newest version of the format that can be read. */
const FORMAT = 1;

const METHODS = ['tools/call', 'prompts/get', 'resources/read', 'completion/complete'];
const STATUSES = ['ok', 'tool-error', 'error', 'cancelled'];
const ANONYMOUS: Implementation = { name: 'unknown', version: '0.0.0' };

const unreadable = (problem: string) => new UnreadableRecording(problem);

function objectIn(parent: JsonObject, name: string): JsonObject | undefined {
  const value = parent[name];
  if (value === undefined || isObject(value)) return value;
  throw unreadable(`"${name}" is not an object`);
}

function textIn(parent: JsonObject, name: string): string {
  const value = parent[name];
  if (typeof value === 'string') return value;
  throw unreadable(`"${name}" is not a text`);
}

function listIn(parent: JsonObject, name: string): readonly unknown[] {
  const value = parent[name] ?? [];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw unreadable(`"${name}" is not a list`);
}

function oneOf<T extends string>(value: unknown, name: string, known: readonly T[]): T {
  if (known.includes(value as T)) return value as T;
  throw unreadable(`"${name}" is ${JSON.stringify(value) ?? 'missing'}, but must be one of ${known.join(', ')}`);
}

function principalIn(recording: JsonObject): Principal | undefined {
  const principal = objectIn(recording, 'principal');
  if (principal === undefined) return undefined;
  if (textIn(principal, 'subject') === '') throw unreadable('"subject" of the principal is empty');
  objectIn(principal, 'claims');
  const scopes = listIn(principal, 'scopes');
  if (!scopes.every((each) => typeof each === 'string')) throw unreadable('"scopes" has what is not a text');
  const known = principal as unknown as Principal;
  // endpoints accept others, such as the empty text, but no member can need one
  return known.scopes === undefined ? known : { ...known, scopes: scopes.filter(isScope) };
}

function answerOf(value: unknown): ReadAnswer {
  if (!isObject(value)) throw unreadable('"asked" has what is not an object');
  const error = objectIn(value, 'error');
  if (error !== undefined && !(Number.isInteger(error['code']) && typeof error['message'] === 'string'))
    throw unreadable('"asked" has an error without a code and a message');
  objectIn(value, 'answer');
  return { ...value, method: textIn(value, 'method') };
}

function effectOf(value: unknown): Effect {
  if (Array.isArray(value) && typeof value[0] === 'string' && value.length <= 2) return value as unknown as Effect;
  throw unreadable('"effects" has what is not a list of a key and a result');
}

function outcomeIn(recording: JsonObject): ReadRecording['outcome'] {
  const outcome = objectIn(recording, 'outcome');
  if (outcome === undefined) throw unreadable('"outcome" is missing');
  oneOf(outcome['status'], 'status', STATUSES);
  const milliseconds = Number(outcome['milliseconds'] ?? 0);
  if (!(milliseconds >= 0)) throw unreadable('"milliseconds" is not a number');
  return { ...(outcome as unknown as RecordedOutcome), milliseconds };
}

function requireFormat(recording: JsonObject): void {
  const { format, decorum, cut } = recording;
  if (typeof format !== 'number') throw unreadable('it is not a recording: "format" is missing');
  if (format !== FORMAT) {
    const by = typeof decorum === 'string' ? `, by Decorum ${decorum}` : '';
    throw unreadable(`it was made in format ${format}${by}, and this version reads format ${FORMAT}. Update Decorum`);
  }
  if (cut === undefined) return;
  const parts = listIn(recording, 'cut').map(String).join(', ');
  throw unreadable(`it was cut: ${parts} did not fit into \`maxBytes\`. Raise it, and record the call again`);
}

/**
 * Reads a recording. Nothing that it says is run.
 * @throws {UnreadableRecording} for anything but a complete recording
 */
export function readRecording(text: string): ReadRecording {
  const recording = parsed(text);
  if (!isObject(recording)) throw unreadable('it is not a recording');
  requireFormat(recording);
  const server = objectIn(recording, 'server') ?? {};
  const client = objectIn(recording, 'client') ?? {};
  const member = objectIn(recording, 'member') ?? {};
  const revision = revisionOf(textIn(recording, 'revision'));
  if (revision === undefined) {
    const known = REVISIONS.map(({ id }) => id).join(', ');
    throw unreadable(`"revision" is ${String(recording['revision'])}, but must be one of ${known}`);
  }
  const params = objectIn(recording, 'params');
  if (params === undefined) throw unreadable('"params" is missing');
  return {
    at: textIn(recording, 'at'),
    server: { name: textIn(server, 'name'), version: textIn(server, 'version') },
    revision: revision.id,
    era: revision.era,
    transport: textIn(recording, 'transport'),
    client: {
      info: (objectIn(client, 'info') as Implementation | undefined) ?? ANONYMOUS,
      capabilities: objectIn(client, 'capabilities') ?? {},
    },
    member: {
      kind: textIn(member, 'kind'),
      name: typeof member['name'] === 'string' ? member['name'] : undefined,
    },
    method: oneOf(recording['method'], 'method', METHODS),
    params,
    principal: principalIn(recording),
    asked: listIn(recording, 'asked').map(answerOf),
    effects: listIn(recording, 'effects').map(effectOf),
    outcome: outcomeIn(recording),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw unreadable(`it is not JSON: ${(error as Error).message}`);
  }
}
