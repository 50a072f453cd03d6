import { definePlugin, type ObservedRequest } from '@decorum/core/plugin';

import { Chain } from './chain.js';
import { type AuditKey, keysOf, requireSecrets, secretsOfEnvironment } from './keys.js';
import { argumentsOf, digestOf, kindOf, lineOf } from './line.js';
import { type AuditOptions, requireAuditOptions } from './options.js';

/**
 * Creates a plugin that writes a line for each call of a tool or prompt, and each read of a resource: who called what,
 * when, and how it ended. Each line has a MAC over itself and the line before, so a change is found.
 * @param options where the lines go, and the key
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { audit } from '@decorum/audit';
 *
 * const write = (line: string) => void process.stderr.write(`${line}\n`);
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [audit({ write })] });
 * ```
 */
export const audit = definePlugin((options: AuditOptions) => {
  requireAuditOptions(options);
  const { write } = options;
  const secrets = requireSecrets(options.key);
  const digests = new WeakMap<ObservedRequest, string>();
  let key: AuditKey;
  let chain: Chain;
  return {
    name: 'audit',

    onStart() {
      [key] = keysOf(secrets ?? secretsOfEnvironment()) as [AuditKey];
      chain = new Chain(key);
    },

    observe(request) {
      const kind = kindOf(request);
      // the arguments may be gone when the call has ended
      if (kind !== undefined) digests.set(request, digestOf(argumentsOf(request, kind), key));
    },

    ended(request, outcome) {
      const kind = kindOf(request);
      if (kind === undefined) return;
      const member = { kind, name: request.target ?? null };
      write(chain.sign(lineOf({ request, outcome, member, args: digests.get(request) }, key)));
    },
  };
});
