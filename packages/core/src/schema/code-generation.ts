import { startupError } from '../protocol/errors.js';

let isAllowed: boolean | undefined;

/** Whether the runtime lets programs make functions from text, as ajv and our hydrators do. */
function tryIt(): boolean {
  // they allow it while a worker starts, but not when a request comes
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  if (navigator?.userAgent === 'Cloudflare-Workers') return false;
  try {
    return typeof new Function('return 1') === 'function';
  } catch {
    return false;
  }
}

/**
 * Rejects a schema whose check is generated code if the runtime forbids that. Otherwise the first call would fail.
 * @throws {DecorumError} `DECORUM_NO_CODE_GENERATION`
 */
export function requireCodeGeneration(where: string): void {
  isAllowed ??= tryIt();
  if (!isAllowed) throw startupError('DECORUM_NO_CODE_GENERATION', where);
}
