import { isPromise } from './values/maybe-promise.js';
import { isStandardSchema } from './standard/standard.js';

/** How to wrap a plain object of fields, by the vendor of its fields. */
const WRAPPERS: Readonly<Record<string, string>> = {
  zod: 'z.object({ … })',
  valibot: 'v.object({ … })',
  arktype: 'type({ … })',
};

// names, because Node.js takes 20 ms to load `Request` and its like when they are first read
const BUILT_IN: ReadonlySet<string> = new Set(
  (
    'Object Function Array String Number Boolean Symbol BigInt Date RegExp Error Map Set Promise URL URLSearchParams ' +
    'Uint8Array ArrayBuffer AbortSignal Buffer Request Response Headers'
  ).split(' '),
);

const isBuiltIn = (source: { readonly name: string }): boolean =>
  BUILT_IN.has(source.name) && source === (globalThis as Record<string, unknown>)[source.name];

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value) as object | null;
  // don't compare with `Object.prototype`: each realm has a different one
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

function ofFunction(source: { readonly name: string; readonly prototype?: unknown }): string | undefined {
  if (isBuiltIn(source)) {
    return `${source.name} is not a schema. Declare a DTO class with a field of that type and pass the class, or pass a JSON Schema`;
  }
  if (typeof source.prototype === 'object') return undefined;
  return 'it is a function. Pass the class itself: `MyDto`, not `() => MyDto`';
}

/**
 * Recognizes values that are often passed by mistake instead of a schema.
 * @returns a message with the mistake and its fix; undefined for anything that may be a schema
 */
export function mistakenSource(source: unknown): string | undefined {
  if (isStandardSchema(source)) return undefined;
  if (typeof source === 'function') return ofFunction(source);
  if (typeof source !== 'object' || source === null || Array.isArray(source)) {
    return 'it is not a DTO class, Standard Schema or JSON Schema object. Pass `MyDto`, `z.object({ … })` or `{ type: "object", … }`';
  }
  if (isPromise(source)) return 'it is a promise. Await it before you pass it';
  if (!isPlain(source)) {
    const { name } = source.constructor;
    // such as a zod 3 schema
    if ('parse' in source)
      return `${name} does not implement Standard Schema. Upgrade its library, or pass a JSON Schema`;
    return `it is an instance of ${name}. Pass the class itself: \`${name}\``;
  }
  const field = Object.entries(source).find(([, value]) => isStandardSchema(value));
  if (field === undefined) return undefined;
  const [key, value] = field as [string, { readonly '~standard': { readonly vendor: string } }];
  const { vendor } = value['~standard'];
  const wrapper = WRAPPERS[vendor] ?? `the object schema of ${vendor}`;
  return `it is a plain object with a ${vendor} schema in "${key}". Wrap it: ${wrapper}`;
}
