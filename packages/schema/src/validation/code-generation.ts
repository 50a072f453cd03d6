import { startupError } from '../errors.js';

let isAllowed: boolean | undefined;

/** Whether the runtime lets programs create functions from text, as ajv and our hydrators do. */
function tryIt(): boolean {
  // Workers allow it during startup, but not during a request
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  if (navigator?.userAgent === 'Cloudflare-Workers') return false;
  try {
    return typeof new Function('return 1') === 'function';
  } catch {
    return false;
  }
}

/**
 * Rejects a schema that needs generated code if the runtime forbids such code. Otherwise, the first call would fail.
 * @throws {DecorumError} `DECORUM_NO_CODE_GENERATION`
 */
export function requireCodeGeneration(where: string): void {
  isAllowed ??= tryIt();
  if (!isAllowed) throw startupError('DECORUM_NO_CODE_GENERATION', where);
}
