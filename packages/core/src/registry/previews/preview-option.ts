import { invalidOption, isObject, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { PreviewOptions } from '../../metadata/preview-options.js';
import type { Member } from '../plan.js';

const DAY_MS = 86_400_000;
const OPTIONS: OptionTypes<PreviewOptions> = { by: 'string', ask: 'boolean', ttlMs: [1, 30 * DAY_MS] };

/** How a tool is previewed. */
export type Preview = Required<PreviewOptions>;

/**
 * The `preview` of a tool; undefined if it has none.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function previewOf(member: Member<'tool'>): Preview | undefined {
  const { options, where } = member;
  const { preview, memoize } = options;
  if (preview === undefined) return undefined;
  const given = typeof preview === 'string' ? { by: preview } : preview;
  if (!isObject(given as unknown)) throw invalidOption(where, 'preview', `is not the name of a method. ${WRITE}`);
  requireOptions(`${where} (preview)`, given, OPTIONS);
  requireMethod(given.by, member);
  if (memoize !== undefined && memoize !== false) {
    const problem = 'would give one plan, with its ticket, to several calls. Remove `memoize` or `preview`';
    throw invalidOption(where, 'memoize', problem);
  }
  return { ask: false, ttlMs: 600_000, ...given };
}

const WRITE = "Write `preview: 'plan'`, where `plan(input, ctx)` is a method of the class";

function requireMethod(by: unknown, { cls, key, methods, where, host }: Member<'tool'>): asserts by is string {
  if (typeof by !== 'string' || by === '') throw invalidOption(where, 'preview', `has no \`by\`. ${WRITE}`);
  if (by === key) throw invalidOption(where, 'preview', `names the tool itself. ${WRITE}`);
  const found = (cls.prototype as Readonly<Record<string, unknown>> | undefined)?.[by] ?? methods[by];
  if (typeof found !== 'function' || by in Object.prototype) {
    throw invalidOption(where, 'preview', `names "${by}", which is no method of ${cls.name}. ${WRITE}`);
  }
  if (host !== undefined && host.preview === undefined) {
    throw invalidOption(
      where,
      'preview',
      'needs a host that runs previews. Add `preview` to the `host` of the provider',
    );
  }
}
