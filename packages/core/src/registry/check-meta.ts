import { invalidOption, type JsonObject } from '@decorum/schema/internal';

import { isReservedKey } from '../protocol/meta-keys.js';
import { isTraceKey, isTraceValue } from './trace-meta.js';

// an optional prefix of labels, and a name, which may be empty after a prefix
const META_KEY =
  /^(?!$)(?:(?:[a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/)?(?:[a-z0-9](?:[\w.-]*[a-z0-9])?)?$/i;

/**
 * Rejects keys that violate the grammar, and keys reserved for the protocol. Trace keys must have values in their W3C
 * format.
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/index#meta
 */
export function checkMeta(meta: JsonObject = {}, where: string): void {
  const wrong = (problem: string) => invalidOption(where, '_meta', problem);
  for (const [key, value] of Object.entries(meta)) {
    if (!META_KEY.test(key))
      throw wrong(`has the key "${key}", which is not a valid key. Use \`name\` or \`example.com/name\``);
    if (isReservedKey(key)) {
      throw wrong(
        `has the key "${key}", which is reserved for the protocol. Use a prefix of your own, as in \`example.com/name\``,
      );
    }
    if (isTraceKey(key) && !isTraceValue(key, value))
      throw wrong(`has a "${key}" that is not in its W3C format. Correct or remove it`);
  }
}
