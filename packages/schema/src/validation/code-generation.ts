import { interpretedFunction } from '../interpreter/program.js';

/** Whether the runtime lets programs create functions from text. */
export function generatesCode(): boolean {
  // Workers allow it during startup, but not during a request
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } };
  if (navigator?.userAgent === 'Cloudflare-Workers') return false;
  try {
    return typeof new Function('return 1') === 'function';
  } catch {
    return false;
  }
}

const FROZEN =
  'this runtime forbids generated code, and has frozen `globalThis.Function`, so checks cannot be interpreted either. ' +
  "Freeze other objects, but don't freeze `globalThis`";

/**
 * Lets ajv compile checks. Where the runtime forbids generated code, the code that ajv generates is interpreted, so
 * verdicts, explanations and limits are the same.
 * @param compile runs synchronously, and calls nothing but ajv
 */
export function withGeneratedCode<T>(compile: () => T): T {
  if (generatesCode()) return compile();
  // ajv can't be told to create its functions in another way
  const { Function: native } = globalThis;
  if (Object.getOwnPropertyDescriptor(globalThis, 'Function')?.writable === false) throw new Error(FROZEN);
  globalThis.Function = interpretedFunction as unknown as FunctionConstructor;
  try {
    return compile();
  } finally {
    globalThis.Function = native;
  }
}
