import type { ModelFields } from './model-fields.js';
import type { Revision } from './revision.js';

type Fields = Readonly<Record<string, Form | true>>;

/** What may be sent of an object: these fields, each as it is (`true`), or by the form of the object or objects in it. */
interface Form {
  readonly fields: Fields;
  /** What may be sent of objects of several kinds, by their `type`. */
  readonly kinds: Readonly<Record<string, Form>> | undefined;
}

/** A table without what every object inherits: `constructor` is a name like any other. */
const tableOf = <T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> =>
  Object.assign(Object.create(null) as Record<string, T>, Object.fromEntries(entries));

/**
 * Leaves out the fields that a form does not have, here and inside.
 * @returns the same object where nothing has to go, as mostly: this runs for each result
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

/** The forms that a revision's fields give. */
export function allowList(names: ModelFields) {
  const form = (kind: string, inner: Readonly<Record<string, Form>> = {}): Form => ({
    fields: tableOf((names[kind] ?? []).map((name) => [name, inner[name] ?? true])),
    kinds: undefined,
  });
  const annotations = form('annotations');
  const icons = form('icon');
  const contents = form('contents');
  const block: Form = {
    // of a kind that the revision does not have
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

/** The revision, sending only what is on the list, whatever its own functions leave in. */
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
