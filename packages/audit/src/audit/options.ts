import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

/** A member that was called. */
export interface AuditedMember {
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** The registered name, URI or template; null if the server has no such member. */
  readonly name: string | null;
}

/** Options of `audit`. */
export interface AuditOptions {
  /** Gets each line, without a line break. The lines come in the order of the chain. */
  readonly write: (line: string) => void;
  /**
   * The secret of the chain and of the digests, with at least 32 characters. Of several, the first one signs. By default,
   * the secrets in `DECORUM_SECRET`.
   */
  readonly key?: string | readonly string[];
}

const OPTIONS: OptionTypes<AuditOptions> = { write: 'function', key: true };

/**
 * Rejects options that can't be used.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireAuditOptions(options: AuditOptions): void {
  requireOptions('audit', options, OPTIONS);
  if (options.write === undefined)
    throw startupError('DECORUM_INVALID_OPTION', 'audit', 'write', 'is missing. Pass a function that gets each line');
}
