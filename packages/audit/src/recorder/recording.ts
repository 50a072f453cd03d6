import type { ClientCapabilities, Implementation, JsonObject, Principal } from '@decorum/core';
import type { AskedAnswer, Effect, ObservedRequest, RequestOutcome } from '@decorum/core/plugin';

import type { RecorderSettings } from './options.js';
import { Scrubber } from './scrub.js';
import { Secrets, Unrecordable } from './secrets.js';

/** A question to the client, and how the client has answered it. */
export interface RecordedAnswer extends Pick<AskedAnswer, 'method' | 'answer' | 'error'> {
  /** What the user was asked. */
  readonly message?: string;
}

/** A call, as a file has it. Secrets are replaced by placeholders. */
export interface Recording {
  /** The version of the format. */
  readonly format: 1;
  /** When the call ended, in ISO 8601. */
  readonly at: string;
  /** The version of Decorum that made the recording. */
  readonly decorum: string;
  readonly server: { readonly name: string; readonly version: string };
  readonly revision: string;
  readonly era: 'stateful' | 'stateless';
  readonly transport: string;
  /** The client, as it described itself. */
  readonly client?: { readonly info?: Implementation; readonly capabilities?: ClientCapabilities };
  readonly member: {
    readonly kind: 'tool' | 'prompt' | 'resource' | 'completion';
    /** The registered name, URI or template; null if the server has no such member. */
    readonly name: string | null;
  };
  readonly method: string;
  /** The params of the request, with the part of `_meta` that handlers may read. */
  readonly params?: JsonObject;
  /** The caller, with the claims that are allowed. */
  readonly principal?: Principal;
  /** What the handler has asked the client, with the answers, in order. */
  readonly asked?: readonly RecordedAnswer[];
  /** Results of `ctx.once` by key. */
  readonly effects?: readonly Effect[];
  readonly outcome: {
    readonly status: 'ok' | 'tool-error' | 'error' | 'cancelled';
    readonly cause?: string;
    readonly code?: number;
    /** What the client was told. */
    readonly message?: string;
    /** The name of the class of the error that was thrown. */
    readonly error?: string;
    /** The reference of a masked error in the log. */
    readonly reference?: string;
    readonly milliseconds: number;
  };
  /** How many secrets have a placeholder. */
  readonly redacted: number;
  /** What was left out because it was too long. Such a recording can't be replayed. */
  readonly cut?: readonly string[];
}

/** A call that has ended. */
export interface EndedCall {
  readonly request: ObservedRequest;
  readonly outcome: RequestOutcome;
  readonly kind: Recording['member']['kind'];
  /** The params as JSON; undefined if they were too long to keep. */
  readonly params: string | undefined;
  readonly at: string;
}

/** What a recording knows besides the call. */
export interface Origin {
  readonly server: Recording['server'];
  readonly decorum: string;
}

/** Characters that a recording has of texts that may be longer: of what the client was told, and of a name. */
const MAX_CHARS: Readonly<Record<string, number>> = { message: 2000, error: 100 };

/** Characters that are searched for secrets beyond those: a secret must be found even if only its beginning is kept. */
const SEARCHED_CHARS = 65_536;

/** Params that belong to one request, not to the call. */
const TRANSIENT = new Set(['requestState', 'inputResponses', 'task']);

/** Fields of `_meta` that clients set anew in each request. */
const isTransient = (name: string): boolean =>
  name === 'progressToken' || /^[^/]*\b(?:modelcontextprotocol|mcp)\b[^/]*\//.test(name);

const without = (object: JsonObject, isLeftOut: (name: string) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !isLeftOut(name)));

function paramsOf(text: string): JsonObject {
  const { _meta, ...params } = without(JSON.parse(text) as JsonObject, (name) => TRANSIENT.has(name));
  if (typeof _meta !== 'object' || _meta === null) return params;
  // even if nothing is left of it, because handlers may rely on it
  return { ...params, _meta: without(_meta as JsonObject, isTransient) };
}

function principalOf(principal: Principal | undefined, allowed: readonly string[]): Principal | undefined {
  if (principal === undefined) return undefined;
  const { subject, issuer, clientId, kind, scopes, claims = {} } = principal;
  const kept = Object.entries(claims).filter(([name]) => allowed.includes(name));
  return {
    subject,
    issuer,
    clientId,
    kind,
    ...(scopes && { scopes }),
    ...(kept.length > 0 && { claims: Object.fromEntries(kept) }),
  };
}

/** What the client was told: the message of an error, or the text of a tool's result. */
function messageOf(outcome: RequestOutcome): string | undefined {
  if (outcome.message !== undefined || outcome.status !== 'tool-error') return outcome.message;
  const content: unknown = outcome.result?.['content'];
  if (!Array.isArray(content)) return undefined;
  return (content as readonly { readonly text?: unknown }[]).flatMap(({ text }) => text ?? []).join('\n');
}

function classOf(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  const { name } = Object(error) as { readonly name?: unknown };
  return error instanceof Error && typeof name === 'string' ? name : typeof error;
}

function answerOf({ method, params: { message }, answer, error }: AskedAnswer): RecordedAnswer {
  return { method, ...(typeof message === 'string' && { message }), answer, error };
}

function outcomeOf(outcome: RequestOutcome): Omit<Recording['outcome'], 'message' | 'error'> {
  const { status, cause, code, reference, milliseconds } = outcome;
  return {
    status: status as Recording['outcome']['status'],
    ...(cause !== undefined && { cause }),
    ...(code !== undefined && { code }),
    ...(reference !== undefined && { reference }),
    milliseconds: Math.round(milliseconds),
  };
}

/**
 * The parts of a recording that clients and users have written. Each may repeat secrets of those before it.
 * `params` is null if they are gone.
 */
function partsOf({ request, outcome, params }: EndedCall, claims: readonly string[]): Record<string, unknown> {
  const { client: info, capabilities, principal } = request;
  const { asked, effects } = outcome;
  return {
    client: info || capabilities ? { info, capabilities } : undefined,
    principal: principalOf(principal, claims),
    params: params === undefined ? null : paramsOf(params),
    asked: asked.length > 0 ? asked.map(answerOf) : undefined,
    effects: effects.length > 0 ? effects : undefined,
    message: cutTo('message', messageOf(outcome), SEARCHED_CHARS),
    error: cutTo('error', classOf(outcome.error), SEARCHED_CHARS),
  };
}

/** A text as long as a recording may have it, or longer by some characters; any other value as it is. */
const cutTo = (name: string, value: unknown, more = 0): unknown =>
  typeof value === 'string' ? value.slice(0, (MAX_CHARS[name] ?? Infinity) + more) : value;

/** Bytes for what is the same in all recordings. */
const FIXED_BYTES = 1024;

/**
 * Leaves out what doesn't fit, and all behind it: it may repeat secrets that nobody looks for any more.
 * @returns the names of what it has left out
 */
function fit(parts: Record<string, unknown>, maxBytes: number): readonly string[] {
  let left = maxBytes - FIXED_BYTES;
  return Object.keys(parts).filter((name) => {
    const { [name]: part } = parts;
    if (part === undefined) return false;
    left -= part === null ? Infinity : Buffer.byteLength(JSON.stringify(cutTo(name, part)));
    return left < 0 && delete parts[name];
  });
}

/** Replaces the secrets in the parts of a recording. Returns how many it has replaced. */
function scrub(parts: Record<string, unknown>, request: ObservedRequest, settings: RecorderSettings): number {
  const secrets = new Secrets(settings.redact);
  secrets.collect(parts);
  const subject = settings.subject ? undefined : request.principal?.subject;
  if (subject !== undefined) secrets.add(subject);
  const scrubber = new Scrubber(secrets);
  const { params, principal } = parts as { readonly params?: JsonObject; readonly principal?: Principal };
  for (const [name, part] of Object.entries(parts)) parts[name] = cutTo(name, scrubber.scrub(part));
  if (principal !== undefined && subject !== undefined)
    parts['principal'] = { ...(parts['principal'] as Principal), subject: scrubber.text(subject, true) };
  // registered names are no secrets
  const { target, alias } = request;
  const { name, uri } = params ?? {};
  if (target !== undefined && name !== undefined && (name === target || name === alias))
    parts['params'] = { ...(parts['params'] as JsonObject), name };
  if (target !== undefined && uri === target) parts['params'] = { ...(parts['params'] as JsonObject), uri };
  return scrubber.count;
}

/** The text of a recording. */
export function recordingOf(call: EndedCall, origin: Origin, settings: RecorderSettings): string {
  const { request, outcome, kind, at } = call;
  let parts = partsOf(call, settings.claims);
  let cut = fit(parts, settings.maxBytes);
  let redacted = 0;
  try {
    redacted = scrub(parts, request, settings);
  } catch (error) {
    if (!(error instanceof Unrecordable)) throw error;
    cut = [...Object.keys(parts).filter((name) => parts[name] !== undefined), ...cut];
    parts = {};
  }
  const { message, error, ...rest } = parts;
  const recording = {
    format: 1,
    at,
    decorum: origin.decorum,
    server: origin.server,
    revision: request.revision,
    era: request.era,
    transport: request.transport,
    member: { kind, name: request.target ?? null },
    method: request.method,
    ...rest,
    outcome: { ...outcomeOf(outcome), error, message },
    redacted,
    ...(cut.length > 0 && { cut }),
  };
  const text = JSON.stringify(recording, undefined, 2);
  return `${text.length <= settings.maxBytes ? text : JSON.stringify(recording)}\n`;
}
