import { isObject, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import { startupError } from '../../protocol/errors.js';
import { isOption } from '../../registry/check-options.js';
import { REVISIONS } from '../../protocol/revisions/index.js';
import type { Extension, ExtensionMethod } from './extension.js';

/** `id`, `methods` and `settings` are checked with errors of their own. */
const OPTIONS: OptionTypes<Extension> = {
  id: true,
  settings: true,
  callers: true,
  accepts: 'function',
  methods: true,
  capabilities: 'function',
  toolOptions: 'object',
  tool: 'function',
  moved: 'function',
  start: 'function',
  resourceOptions: 'object',
  resource: 'function',
  listen: 'object',
  session: 'function',
  open: 'function',
  stop: 'function',
};

const METHOD: OptionTypes<ExtensionMethod> = {
  handle: 'function',
  subject: 'string',
  revisions: 'array',
  callers: true,
  needs: true,
};

// a prefix of labels and a name (MCP, "_meta")
const EXTENSION_ID = /^(?:[a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/[a-z0-9](?:[\w.-]*[a-z0-9])?$/i;

/** The fields of `subscriptions/listen` that belong to the protocol. */
const LISTEN_FIELDS = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged', 'resourceSubscriptions'];

type Wrong = (problem: string) => Error;

/** An extension that claims a name. */
interface Claim {
  readonly id: string;
  readonly wrong: Wrong;
  /** Whether the protocol has the name. */
  readonly isProtocols: boolean;
}

/**
 * Rejects invalid extensions, and those that conflict with the protocol or with each other.
 * @throws {DecorumError} `DECORUM_INVALID_EXTENSION`, or `DECORUM_INVALID_OPTION` for an unknown option
 */
export function checkExtensions(extensions: readonly Extension[]): readonly Extension[] {
  const ids = new Set<string>();
  const owners = new Map<string, string>();
  const own = (kind: string, name: string, { id, wrong, isProtocols }: Claim) => {
    const key = `${kind} "${name}"`;
    const owner = isProtocols ? 'the protocol' : owners.get(key);
    if (owner !== undefined) throw wrong(`has the ${key}, which belongs to ${owner}. Rename the ${kind}`);
    owners.set(key, `"${id}"`);
  };
  for (const given of extensions) {
    const extension: Extension = isObject(given) ? given : { id: String(given) };
    const { id, methods = {}, toolOptions = {}, resourceOptions = {}, listen = {} } = extension;
    const wrong = (problem: string) => startupError('DECORUM_INVALID_EXTENSION', id, problem);
    checkShape(extension, wrong);
    if (ids.has(id)) throw wrong('is listed twice. Remove one, or merge them');
    ids.add(id);
    const added: readonly [kind: string, names: object, isProtocols: (name: string) => boolean][] = [
      ['method', methods, (name) => REVISIONS.some((revision) => revision.methods.has(name))],
      ['tool option', toolOptions, (name) => isOption('tool', name)],
      ['resource option', resourceOptions, (name) => isOption('resource', name)],
      ['field', listen, (name) => LISTEN_FIELDS.includes(name)],
    ];
    for (const [kind, names, isProtocols] of added) {
      for (const name of Object.keys(names)) own(kind, name, { id, wrong, isProtocols: isProtocols(name) });
    }
  }
  return extensions;
}

function checkShape(extension: Extension, wrong: Wrong): void {
  const { id, methods = {}, settings = {}, callers } = extension;
  if (!isObject(methods) || !isObject(settings))
    throw wrong('has `methods` or `settings` that are not an object. Pass an object');
  if (!EXTENSION_ID.test(id)) {
    throw wrong('has an invalid id. Use a reverse domain name and a name, as in "com.example/feature"');
  }
  requireOptions(`The extension "${id}"`, extension, OPTIONS);
  const known = new Set(REVISIONS.filter((revision) => revision.extensions).map((revision) => revision.id));
  for (const [name, method] of Object.entries(methods)) {
    if (typeof method === 'function') continue;
    if (!isObject(method) || typeof method.handle !== 'function')
      throw wrong(`has a method "${name}" that is not a function. Pass a function, or an object with \`handle\``);
    requireOptions(`The method "${name}" of the extension "${id}"`, method, METHOD);
    const unknown = method.revisions?.find((revision) => !known.has(revision));
    if (unknown !== undefined)
      throw wrong(
        `has a method "${name}" for the revision "${unknown}", which has no extensions. Use ${[...known].join(', ')}`,
      );
    requireCallers(method.callers, wrong);
    requireNeeds(method.needs, wrong);
  }
  requireCallers(callers, wrong);
}

function requireCallers(callers: unknown, wrong: Wrong): void {
  if (callers === undefined || callers === 'declared' || callers === 'all') return;
  throw wrong(`has \`callers: ${JSON.stringify(callers)}\`. Use 'declared' or 'all'`);
}

function requireNeeds(needs: unknown, wrong: Wrong): void {
  if (needs === undefined || needs === 'list' || needs === 'read') return;
  throw wrong(`has a method with \`needs: ${JSON.stringify(needs)}\`. Use 'list' or 'read'`);
}
