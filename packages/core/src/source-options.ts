import type { OptionTypes } from '@decorum/schema/internal';

import type { Access } from './protocol/wire.js';
import type { Transform } from './transform.js';

/** Options of all sources of members: where their members go, who may use them, and what changes of them. */
export interface SourceOptions {
  /** Put before the names of tools, prompts and resources: `billing` makes `billing_pay` of `pay`. */
  readonly prefix?: string;
  /** Between the prefix and the name. Defaults to `_`. */
  readonly separator?: string;
  /**
   * Inserted after the scheme of URIs: `billing` makes `notes://billing/7` of `notes://7`. Defaults to `prefix`. Letters,
   * digits, `-`, `.`, `_` and `~`.
   */
  readonly uriPrefix?: string;
  /** Decides who may see and use the members, besides each member's own `access`. */
  readonly access?: Access;
  /** Scopes that callers need for each of the members, in addition to the member's own. */
  readonly scopes?: readonly string[];
  /** Tags of each of the members, in addition to the member's own. */
  readonly tags?: readonly string[];
  /** What to change of the members: their names, descriptions, arguments or results. `false` hides one. */
  readonly transform?: Transform;
}

/** The types of the options. */
export const SOURCE_OPTIONS: OptionTypes<SourceOptions> = {
  prefix: 'string',
  separator: 'string',
  uriPrefix: 'string',
  access: 'function',
  scopes: 'array',
  tags: true,
  transform: true,
};
