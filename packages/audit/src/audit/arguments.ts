import type { JsonObject } from '@decorum/core';
import type { ObservedRequest } from '@decorum/core/plugin';

import { canonicalJson } from './canonical.js';
import { type AuditKey, keyedDigest } from './keys.js';
import { callerOf } from './line.js';
import type { AuditedMember, AuditOptions } from './options.js';

type Redact = NonNullable<AuditOptions['redact']>;

/** Characters of JSON that a line may have of arguments. */
const MAX_CHARS = 8192;

/** What a call is made with. */
export const argumentsOf = (request: ObservedRequest, { kind }: AuditedMember): JsonObject =>
  kind === 'resource' ? { uri: request.uri ?? null } : (request.arguments ?? {});

/** What is needed to write down arguments. */
interface Means {
  readonly key: AuditKey;
  /** Tells that the function of the user fails. */
  report(error: Error): void;
}

type Digest = (request: ObservedRequest, member: AuditedMember, args?: JsonObject) => unknown;

/**
 * Returns the function that gives what a line has of the arguments: a digest and, with `redact`, some of them in clear.
 * Equal arguments of the same caller and member have equal digests. Those of others have not: whoever reads the log could
 * make calls of their own, and compare. Without `args`, it must be called before the call runs, which may release them.
 */
export function digesting(redact: Redact | undefined, { key, report }: Means): Digest {
  const digestOf = (request: ObservedRequest, member: AuditedMember, args: JsonObject) =>
    keyedDigest(key.digests, canonicalJson([callerOf(request, key), member, args]));
  if (redact === undefined)
    return (request, member, args = argumentsOf(request, member)) => digestOf(request, member, args);
  let hasFailed = false;
  return (request, member, args = argumentsOf(request, member)) => {
    const digest = digestOf(request, member, args);
    try {
      return { digest, kept: keptOf(redact(args, member)) };
    } catch (cause) {
      const effect = 'The line has only the digest of the arguments. Reported once.';
      if (!hasFailed) report(new Error(`\`redact\` of \`audit\` failed. ${effect}`, { cause }));
      hasFailed = true;
      return { digest, kept: null };
    }
  };
}

/** A copy of what a function has returned, which may change it later. */
function keptOf(kept: unknown): JsonObject | null {
  if (kept === undefined || kept === null) return null;
  // nobody else waits for a promise, and one that rejects would end the process
  if (kept instanceof Promise) kept.catch(() => undefined);
  if (typeof kept !== 'object' || Array.isArray(kept) || kept instanceof Promise)
    throw new TypeError('It must return an object, or undefined to keep nothing.');
  const text = JSON.stringify(kept);
  if (text.length > MAX_CHARS) throw new RangeError(`It returned more than ${MAX_CHARS} characters as JSON.`);
  return JSON.parse(text) as JsonObject;
}
