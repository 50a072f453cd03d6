import { realpath } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

import type { JsonObject } from '@decorum/core';

import { entriesOf, own } from './json.js';
import { locationOf, readDocument, Unreadable } from './read-document.js';

/** Cap on the documents that `$ref`s lead to. */
const MAX_DOCUMENTS = 1000;
/** Keywords whose values are data: a `$ref` in them is no reference. */
const DATA = new Set(['example', 'examples', 'default', 'const', 'enum']);

/** Calls back for each object with a `$ref`. */
function eachRef(value: unknown, found: (holder: Record<string, unknown>, ref: string) => void): void {
  if (Array.isArray(value)) return value.forEach((each) => eachRef(each, found));
  const ref = own(value, '$ref');
  if (typeof ref === 'string') found(value as Record<string, unknown>, ref);
  for (const [key, part] of entriesOf(value)) if (!DATA.has(key)) eachRef(part, found);
}

/** Where links lead counts, so that a link in an allowed folder leads nowhere else. */
async function realUrl(url: URL): Promise<URL> {
  if (url.protocol !== 'file:') return url;
  try {
    return pathToFileURL(await realpath(fileURLToPath(url)));
  } catch {
    return url;
  }
}

/** Loads the documents that the references of a document lead to, and makes these references absolute. */
export class ExternalRefs {
  readonly #allowed: Promise<readonly string[]>;

  /** @param allowed folders, files and URLs */
  constructor(allowed: readonly (string | URL)[]) {
    this.#allowed = Promise.all(allowed.map(async (each) => await this.#prefixOf(each)));
  }

  async #prefixOf(each: string | URL): Promise<string> {
    const isFolder = String(each).endsWith('/');
    const { href } = await realUrl(locationOf(each));
    return isFolder && !href.endsWith('/') ? `${href}/` : href;
  }

  async #isAllowed(url: URL): Promise<boolean> {
    const { href } = await realUrl(url);
    return (await this.#allowed).some((each) => (each.endsWith('/') ? href.startsWith(each) : href === each));
  }

  /**
   * All documents by URL; the first one has the key ''.
   * @param base the URL of the document; undefined for an object
   * @throws {Unreadable} for a reference to a document that isn't allowed or can't be read
   */
  async load(document: JsonObject, base: URL | undefined): Promise<Map<string, unknown>> {
    const documents = new Map<string, unknown>([['', document]]);
    const pending: (readonly [key: string, base: URL | undefined])[] = [['', base]];
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const [key, from] = next;
      for (const url of this.#absolute(documents.get(key), key, from)) {
        if (documents.has(url)) continue;
        if (documents.size > MAX_DOCUMENTS) throw new Unreadable(`refers to more than ${MAX_DOCUMENTS} documents`);
        documents.set(url, await this.#read(new URL(url)));
        pending.push([url, new URL(url)]);
      }
    }
    return documents;
  }

  /** Makes references to other documents absolute, and returns their URLs. */
  #absolute(document: unknown, key: string, base: URL | undefined): ReadonlySet<string> {
    const urls = new Set<string>();
    eachRef(document, (holder, ref) => {
      if (ref.startsWith('#')) {
        holder['$ref'] = key + ref;
        return;
      }
      if (!URL.canParse(ref, base?.href)) throw new Unreadable(`refers to "${ref}", which is no URL`);
      const url = new URL(ref, base);
      const { hash } = url;
      url.hash = '';
      urls.add(url.href);
      holder['$ref'] = url.href + hash;
    });
    return urls;
  }

  async #read(url: URL): Promise<JsonObject> {
    if (!(await this.#isAllowed(url))) {
      throw new Unreadable(`refers to "${url.href}". If that is intended, list it in \`externalRefs\``);
    }
    try {
      return await readDocument(url, 'error');
    } catch (error) {
      if (error instanceof Unreadable) throw new Unreadable(`refers to "${url.href}", which ${error.message}`);
      throw error;
    }
  }
}
