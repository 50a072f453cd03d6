import type { JsonObject } from '@decorum/schema/internal';

import type { McpError, ToolError } from '../../protocol/errors.js';
import type { FailureCause } from '../../protocol/failure-cause.js';
import type { MemberRecord } from '../../metadata/records.js';
import type { Caller } from '../caller.js';
import type { MemberHost } from '../member-host.js';

/** One run of a member. */
export interface MemberRun {
  /** What the result depends on: the arguments as sent, the URI and variables of a resource, or what is completed. */
  readonly args: JsonObject;
  readonly caller: Caller;
}

/** Runs the rest, for this caller. */
export type Next<R> = (caller: Caller) => R | Promise<R>;

/** Decides when, how often and for how long one member runs. Synchronous as long as the member is. */
export type Policy = <R extends object>(run: MemberRun, next: Next<R>) => R | Promise<R>;

/** Tells the operator of the server what happens. */
interface Reporter {
  warn(details: object, message: string): void;
  debug?(details: object, message: string): void;
  /** Whether clients may see an error, by the rules of the server. */
  isExpected(error: unknown): boolean;
  /** What clients see of an error, and why it was thrown; undefined if it is masked. */
  visible?(error: unknown): { readonly shown: McpError | ToolError; readonly cause: FailureCause } | undefined;
}

/** Server-wide defaults of policies. */
export interface PolicyDefaults {
  /** Milliseconds that a call may take. */
  readonly timeoutMs?: number | undefined;
  readonly reporter?: Reporter | undefined;
}

/** What the policies of a member need. */
export interface PolicyParts {
  /** `Class.method`, for errors. */
  readonly where: string;
  readonly record: MemberRecord & { readonly host?: MemberHost | undefined };
  readonly defaults: PolicyDefaults;
  /** Registers what to call when a resource has changed. Only for members that are resources. */
  onUpdate?(callback: (uri: string) => void): void;
}

/** Combines policies, the first outermost. Undefined if there are none, so a member without any runs nothing for them. */
export function combined(policies: readonly (Policy | undefined)[]): Policy | undefined {
  const given = policies.filter((policy) => policy !== undefined);
  return given.reduceRight<Policy | undefined>((inner, outer) => {
    if (inner === undefined) return outer;
    return (run, next) => outer(run, (caller) => inner({ args: run.args, caller }, next));
  }, undefined);
}
