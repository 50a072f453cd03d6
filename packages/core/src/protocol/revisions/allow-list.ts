import type { ModelFields } from './model-fields.js';
import type { Revision } from './revision.js';

type Fields = Readonly<Record<string, Form | true>>;

/**
 * The allowed fields of an object. Each is sent unchanged (`true`), or filtered by the form of its object or objects.
 */
interface Form {
  readonly fields: Fields;
  /** Forms by the object's `type`, for unions. */
  readonly kinds: Readonly<Record<string, Form>> | undefined;
}

/** Creates a table without a prototype: a lookup of `constructor` must not find an inherited member. */
const tableOf = <T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> =>
  Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));

/**
 * Removes fields that the form does not have, recursively.
 * @returns the same object if there is nothing to remove, which is the common case: this runs for each result
 */
export function allowed<T>(object: T, form: Form): T;
export function allowed(object: unknown, form: Form): unknown {
  if (typeof object !== 'object' || object === null) return object;
  const from = object as Readonly<Record<string, unknown>>;
  const { kinds } = form;
  const { fields } = kinds === undefined ? form : (kinds[from['type'] as string] ?? form);
  for (const name in from) {
    const inner = fields[name];
    if (inner === true) continue;
    if (inner === undefined) return copyOf(from, fields);
    const value = from[name];
    if (Array.isArray(value)) {
      for (const item of value) if (allowed(item, inner) !== item) return copyOf(from, fields);
    } else if (allowed(value, inner) !== value) return copyOf(from, fields);
  }
  return object;
}

function copyOf(from: object, fields: Fields): object {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(from)) {
    const form = fields[name];
    if (form === true) copy[name] = value;
    else if (form) copy[name] = Array.isArray(value) ? value.map((item) => allowed(item, form)) : allowed(value, form);
  }
  return copy;
}

/** The forms of everything that a revision sends. */
export type AllowList = ReturnType<typeof allowList>;

/** Creates the forms for a revision's fields. */
export function allowList(names: ModelFields) {
  const form = (kind: string, inner: Readonly<Record<string, Form>> = {}): Form => ({
    fields: tableOf((names[kind] ?? []).map((name) => [name, inner[name] ?? true])),
    kinds: undefined,
  });
  const annotations = form('annotations');
  const icons = form('icon');
  const contents = form('contents');
  const block: Form = {
    // the form of blocks with an unknown type
    fields: tableOf([['type', true]]),
    kinds: tableOf([
      ['text', form('text', { annotations })],
      ['image', form('image', { annotations })],
      ['audio', form('audio', { annotations })],
      ['resource', form('embedded', { annotations, resource: contents })],
      ['resource_link', form('link', { annotations, icons })],
    ]),
  };
  const list = form('listCapability');
  return {
    tool: form('tool', { icons, annotations: form('hints') }),
    prompt: form('prompt', { icons, arguments: form('argument') }),
    resource: form('resource', { icons, annotations }),
    template: form('template', { icons, annotations }),
    block,
    toolResult: form('toolResult', { content: block }),
    promptResult: form('promptResult', { messages: form('message', { content: block }) }),
    readResult: form('readResult', { contents }),
    implementation: form('implementation', { icons }),
    capabilities: form('capabilities', { tools: list, prompts: list, resources: form('resourceCapability') }),
  };
}

/** Filters everything that a revision sends through its allow list. */
export function allowOnly(list: AllowList, revision: Revision): Revision {
  return {
    ...revision,
    tool: (tool) => allowed(revision.tool(tool), list.tool),
    prompt: (prompt) => allowed(revision.prompt(prompt), list.prompt),
    resource: (resource) => allowed(revision.resource(resource), list.resource),
    resourceTemplate: (template) => allowed(revision.resourceTemplate(template), list.template),
    toolResult: (result, tool) => allowed(revision.toolResult(result, tool), list.toolResult),
    promptResult: (result) => allowed(revision.promptResult(result), list.promptResult),
    readResult: (result) => allowed(revision.readResult(result), list.readResult),
    capabilities: (capabilities) => allowed(revision.capabilities(capabilities), list.capabilities),
    implementation: (server) => allowed(revision.implementation(server), list.implementation),
  };
}
