import { isObject } from '@decorum/core/internal';

import { CannotTell } from './cannot-tell.js';
import { meaningOf } from './keywords.js';

/** The drafts in which keywords beside `$ref` don't count. */
const OLD_DRAFTS = /^https?:\/\/json-schema\.org\/draft-0[3-7]\//;

/** A whole schema, in which references are resolved. */
export class SchemaDocument {
  /** Whether keywords beside `$ref` don't count. */
  readonly isOld: boolean;
  /** What its definitions allow, as text. */
  readonly definitions: string;
  private readonly anchors = new Map<string, unknown>();
  private hasIds = false;

  constructor(readonly root: unknown) {
    const { $schema, $defs, definitions } = isObject(root) ? root : {};
    this.isOld = OLD_DRAFTS.test(String($schema));
    this.definitions = meaningOf({ $defs, definitions });
    this.scan(root);
  }

  /**
   * The schema that a reference names.
   * @throws {CannotTell}
   */
  resolve(reference: unknown): unknown {
    const shown = JSON.stringify(reference)?.slice(0, 80);
    if (typeof reference !== 'string') throw new CannotTell('it has a "$ref" that is not a string');
    if (this.hasIds) throw new CannotTell(`it has schemas with an "$id", so the target of ${shown} is unknown`);
    const { $id } = isObject(this.root) ? this.root : {};
    const hash = reference.indexOf('#');
    const base = hash === -1 ? reference : reference.slice(0, hash);
    const fragment = hash === -1 ? '' : reference.slice(hash + 1);
    const isLocal = base === '' || (typeof $id === 'string' && base === $id.replace(/#$/, ''));
    const found = isLocal ? this.at(fragment) : undefined;
    if (found === undefined) throw new CannotTell(`it refers to ${shown}, which is not in the schema`);
    return found;
  }

  /** What a schema that is nothing but a reference refers to, or else the schema itself. */
  target(schema: unknown): unknown {
    if (!isObject(schema) || typeof schema['$ref'] !== 'string' || Object.keys(schema).length > 1) return schema;
    try {
      return this.resolve(schema['$ref']);
    } catch {
      return schema;
    }
  }

  private at(fragment: string): unknown {
    if (fragment === '') return this.root;
    if (!fragment.startsWith('/')) return this.anchors.get(fragment);
    let found: unknown = this.root;
    for (const step of fragment.slice(1).split('/')) {
      const key = unescaped(step);
      if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
      found = (found as Readonly<Record<string, unknown>>)[key];
    }
    return found;
  }

  /** Looks for names that references may use. */
  private scan(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { $anchor, $id } = value as Readonly<Record<string, unknown>>;
    if (typeof $anchor === 'string') this.anchors.set($anchor, value);
    if (typeof $id === 'string' && value !== this.root) {
      if ($id.startsWith('#')) this.anchors.set($id.slice(1), value);
      else this.hasIds = true;
    }
    for (const each of Object.values(value)) this.scan(each);
  }
}

function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}
