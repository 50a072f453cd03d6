import type { JsonObject } from '@decorum/core';
import { startupError } from '@decorum/core/plugin';
import { validate } from '@readme/openapi-parser';

import { ExternalRefs } from './external-refs.js';
import { cleanText, own } from './json.js';
import { type Settings, wrong } from './openapi-options.js';
import { locationOf, readDocument, Unreadable } from './read-document.js';
import { References } from './references.js';

/** A document whose references can be followed. */
export interface OpenDocument {
  readonly root: JsonObject;
  readonly references: References;
  /** The document in error messages, such as `openapi(petstore.yaml)`. */
  readonly where: string;
  /** Whether schemas are those of OpenAPI 3.0, which differ from JSON Schema. */
  readonly isOld: boolean;
}

function whereOf(given: string | URL | object): string {
  if (typeof given !== 'string' && !(given instanceof URL)) return 'openapi(document)';
  // a query may hold a key, and what is before the host a password
  return `openapi(${String(given)
    .replace(/[?#].*$/s, '')
    .replace(/^(https?:\/\/)[^/]*@/i, '$1')})`;
}

/** @throws {Unreadable} for a version that isn't supported */
function checkVersion({ openapi, swagger }: JsonObject): boolean {
  if (swagger !== undefined) throw new Unreadable('is a Swagger 2.0 document. Convert it to OpenAPI 3');
  const version = typeof openapi === 'string' ? openapi : '';
  if (/^3\.[01](?:\.|$)/.test(version)) return version.startsWith('3.0');
  if (version.startsWith('3.')) {
    throw new Unreadable(
      `has the version ${version}, which the parser doesn't read yet. Write the document in OpenAPI 3.1`,
    );
  }
  throw new Unreadable("is not an OpenAPI document. Pass one with `openapi: '3.1.0'`");
}

/** Cap on the parts of a document once each reference is replaced by its target. The parser looks at all of them. */
const MAX_EXPANDED = 10_000_000;

/** The parts of a value, with each reference replaced by its target. */
interface Extent {
  readonly parts: number;
  /** Whether it leads to itself. The parser leaves references to such values alone. */
  readonly isCircular: boolean;
}

/** Whether the parser can look at a document in reasonable time: references may multiply. */
function isSmall(root: JsonObject, references: References): boolean {
  const known = new Map<unknown, Extent>();
  const extentOf = (value: unknown): Extent => {
    if (typeof value !== 'object' || value === null) return { parts: 1, isCircular: false };
    const found = known.get(value);
    if (found !== undefined) return found;
    // until it is known, whoever finds it is within it
    known.set(value, { parts: 1, isCircular: true });
    const ref = own(value, '$ref');
    const inner = (typeof ref === 'string' ? [references.find(ref)] : Object.values(value)).map(extentOf);
    const isCircular = inner.some((each) => each.isCircular);
    const isLeft = isCircular && typeof ref === 'string';
    const extent = { parts: isLeft ? 1 : inner.reduce((sum, { parts }) => sum + parts, 1), isCircular };
    known.set(value, extent);
    return extent;
  };
  return extentOf(root).parts <= MAX_EXPANDED;
}

async function validateDocument(root: JsonObject, references: References): Promise<void> {
  if (!isSmall(root, references)) return;
  const rule = 'warning';
  const rules = {
    'array-without-items': rule,
    'duplicate-operation-id': rule,
    'path-parameters-not-in-path': rule,
  } as const;
  // the parser changes what it validates
  const result = await validate(structuredClone(root) as never, {
    resolve: { external: false },
    validate: { rules: { openapi: rules } },
  }).catch((error: unknown) => {
    throw new Unreadable(`is not valid: ${(error as Error).message}`);
  });
  if (result.valid) return;
  const [first, ...more] = result.errors;
  const text = cleanText(first?.message)?.replaceAll(/\s+/g, ' ').slice(0, 400) ?? 'it breaks the rules of OpenAPI';
  const rest = more.length + result.additionalErrors;
  throw new Unreadable(
    `is not valid: ${text}${rest > 0 ? ` (and ${rest} more)` : ''}. Correct it, or pass validate: false`,
  );
}

/** A chain of references that is longer than the stack. */
const tooDeep = (where: string) =>
  startupError('DECORUM_INVALID_OPTION', where, 'document', 'is nested too deep. Make it flatter');

/**
 * Reads a document, and those that it refers to.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export async function openDocument(given: string | URL | object, settings: Settings): Promise<OpenDocument> {
  const isPlace = typeof given === 'string' || given instanceof URL;
  if (!isPlace && (typeof given !== 'object' || given === null)) {
    throw wrong('document', "must be a path, a URL or an object. Write openapi('petstore.yaml', { baseUrl: … })");
  }
  const where = whereOf(given);
  const base = isPlace ? locationOf(given) : undefined;
  const { externalRefs = [], validate: validates = true } = settings;
  try {
    const read = await readDocument(base ?? (given as JsonObject), 'follow');
    const isOld = checkVersion(read);
    // references are made absolute in place
    const root = isPlace ? read : structuredClone(read);
    const references = new References(await new ExternalRefs(externalRefs).load(root, base), where);
    if (validates) await validateDocument(root, references);
    return { root, references, where, isOld };
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(where);
    if (!(error instanceof Unreadable)) throw error;
    throw startupError('DECORUM_INVALID_OPTION', where, 'document', error.message);
  }
}
