import { type Interceptor, McpError, type McpServer } from '@decorum/core';
import { definePlugin, type ObservedRequest, reportTo, type RequestOutcome } from '@decorum/core/plugin';

import { type AuditKey, keysOf, requireSecrets, secretsOfEnvironment } from './keys.js';
import { type EndedCall, lineOf, memberOf } from './line.js';
import { AuditLog } from './log.js';
import { LogFile } from './log-file.js';
import { type AuditOptions, requireAuditOptions } from './options.js';
import { argumentsOf, digesting } from './arguments.js';
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

/** A log that is open, and what its lines are made with. */
interface Opened {
  readonly log: AuditLog;
  readonly key: AuditKey;
  readonly digest: ReturnType<typeof digesting>;
}

async function openLog(options: AuditOptions, key: AuditKey, server: McpServer): Promise<Opened> {
  const report = (error: Error) => reportTo(server, error, 'the audit log has a problem');
  const log = new AuditLog(sinkOf(options), report);
  await log.open(key);
  return { log, key, digest: digesting(options.redact, { key, report }) };
}

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
  let open: Opened | undefined;
  let opening: Promise<Opened> | undefined;
  /** Number of servers that have started with this plugin and have not closed. */
  let servers = 0;
  let isOpen: () => void;
  const opened = new Promise<void>((resolve) => (isOpen = resolve));

  const write = (call: Omit<EndedCall, 'args'>, args: (digest: Opened['digest']) => unknown) => {
    if (open !== undefined) open.log.add(lineOf({ ...call, args: args(open.digest) }, open.key));
  };

  return {
    name: 'audit',
    ...(options.failClosed === true && { interceptors: [refusing(() => open?.log.isStuck() === true)] }),

    async onStart(server) {
      servers += 1;
      const [key] = keysOf(secrets ?? secretsOfEnvironment()) as [AuditKey];
      open = await (opening ??= openLog(options, key, server));
      isOpen();
    },

    async onClose() {
      servers -= 1;
      if (servers > 0) return;
      await open?.log.close();
      opening = undefined;
    },

    observe(request) {
      const member = memberOf(request);
      // the arguments may be gone when the call has ended
      if (member !== undefined) called.set(request, open?.digest(request, member));
    },

    ended(request, outcome) {
      const member = memberOf(request);
      if (member !== undefined) write({ request, outcome, member }, () => called.get(request));
    },

    detached(request) {
      const member = memberOf(request);
      if (member === undefined) return undefined;
      const sent = argumentsOf(request, member);
      const add = (outcome: RequestOutcome) =>
        write({ request, outcome, member, run: String(request.id) }, (digest) => digest(request, member, sent));
      // tasks of a dead process go on before the log is open
      return (outcome) => (open === undefined ? void opened.then(() => add(outcome)) : add(outcome));
    },
  };
});
