import { type Interceptor, McpError } from '@decorum/core';
import { definePlugin, type ObservedRequest, reportTo } from '@decorum/core/plugin';

import { type AuditKey, keysOf, requireSecrets, secretsOfEnvironment } from './keys.js';
import { lineOf, memberOf } from './line.js';
import { AuditLog } from './log.js';
import { LogFile } from './log-file.js';
import { type AuditedMember, type AuditOptions, requireAuditOptions } from './options.js';
import { digesting } from './arguments.js';
import { FunctionSink, type Sink } from './sink.js';

function sinkOf({ write, maxBytes = Infinity, sync = false, after }: AuditOptions): Sink {
  return typeof write === 'string' ? new LogFile({ path: write, maxBytes, sync }) : new FunctionSink(write, after);
}

/** Refuses calls while lines can't be written. */
const refusing = (isStuck: () => boolean): Interceptor => {
  return ({ kind }, next) => {
    if (kind === 'completion' || !isStuck()) return next();
    throw new McpError('unavailable', "The server can't record calls for now. Try again later.");
  };
};

/**
 * Creates a plugin that writes a line for each call of a tool or prompt, and each read of a resource: who called what,
 * when, and how it ended. Each line has a MAC over itself and the line before, so `decorum audit verify` finds a change.
 * @param options where the lines go, what they have of arguments, and what happens while they can't be written
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { audit } from '@decorum/audit';
 *
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [audit({ write: 'audit.log' })] });
 * ```
 */
export const audit = definePlugin((options: AuditOptions) => {
  requireAuditOptions(options);
  const secrets = requireSecrets(options.key);
  const called = new WeakMap<ObservedRequest, unknown>();
  let log: AuditLog | undefined;
  let opening: Promise<AuditLog> | undefined;
  let digest: (request: ObservedRequest, member: AuditedMember) => unknown;
  /** Number of servers that have started with this plugin and have not closed. */
  let servers = 0;
  let key: AuditKey;
  return {
    name: 'audit',
    ...(options.failClosed === true && { interceptors: [refusing(() => log?.isStuck() === true)] }),

    async onStart(server) {
      servers += 1;
      opening ??= (async () => {
        const report = (error: Error) => reportTo(server, error, 'the audit log has a problem');
        [key] = keysOf(secrets ?? secretsOfEnvironment()) as [AuditKey];
        digest = digesting(options.redact, { key, report });
        log = new AuditLog(sinkOf(options), report);
        await log.open(key);
        return log;
      })();
      await opening;
    },

    async onClose() {
      servers -= 1;
      if (servers > 0) return;
      await log?.close();
      opening = undefined;
    },

    observe(request) {
      const member = memberOf(request);
      // the arguments may be gone when the call has ended
      if (member !== undefined) called.set(request, digest(request, member));
    },

    ended(request, outcome) {
      const member = memberOf(request);
      if (member !== undefined) log?.add(lineOf({ request, outcome, member, args: called.get(request) }, key));
    },
  };
});
