import { startupError } from '@decorum/core/plugin';

import { isObject, own } from './json.js';

/** Cap on the references that lead from one to the next. */
const MAX_HOPS = 32;

/** The tokens of a JSON pointer (RFC 6901) in a URI's fragment. */
function tokensOf(pointer: string): string[] {
  const decode = (token: string) => {
    try {
      return decodeURIComponent(token);
    } catch {
      return token;
    }
  };
  return pointer
    .split('/')
    .slice(1)
    .map((token) => decode(token).replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Finds what the `$ref`s of a document refer to. */
export class References {
  /**
   * @param documents the parsed documents by URL; the document itself has the key ''
   * @param where the document, for error messages
   */
  constructor(
    private readonly documents: ReadonlyMap<string, unknown>,
    private readonly where: string,
  ) {}

  /** The target of a reference; undefined if there is none. */
  find(ref: string): unknown {
    const hash = ref.indexOf('#');
    const [url, pointer] = hash === -1 ? [ref, ''] : [ref.slice(0, hash), ref.slice(hash + 1)];
    // an anchor
    if (pointer !== '' && !pointer.startsWith('/')) return undefined;
    let target = this.documents.get(url);
    for (const token of tokensOf(pointer)) {
      target = Array.isArray(target) ? (target[Number(token)] as unknown) : own(target, token);
    }
    return target;
  }

  /**
   * The object that a value is, or refers to.
   * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a reference that leads nowhere
   */
  follow(value: unknown): Record<string, unknown> {
    let target = value;
    for (let hops = 0; hops < MAX_HOPS && typeof own(target, '$ref') === 'string'; hops += 1) {
      target = this.find(own(target, '$ref') as string);
    }
    if (isObject(target) && typeof target['$ref'] !== 'string') return target;
    const found = typeof own(value, '$ref') === 'string' ? `the reference "${String(own(value, '$ref'))}"` : 'a value';
    throw startupError(
      'DECORUM_INVALID_OPTION',
      this.where,
      'document',
      `has ${found} that leads to no object. Correct it`,
    );
  }
}
