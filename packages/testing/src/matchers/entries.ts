import type { JsonObject, PromptEntry, ResourceEntry, ResourceTemplateEntry, ToolEntry } from '@decorum/core';
import { FAILURES, isObject, newestOf, type Revision, revisionOf } from '@decorum/core/internal';

import { TestClient } from '../client.js';
import type { Judge, MatcherContext, Verdict } from './matcher.js';
import { differences, indented, show } from './show.js';

/** A kind of entry that a server lists. */
interface Kind {
  readonly noun: string;
  list(client: TestClient): Promise<readonly object[]>;
  /** The members of a contract that list the entries. */
  readonly members: readonly string[];
  /** The name or URI that identifies the entry. */
  keyOf(entry: JsonObject): string;
  encode(revision: Revision, entry: JsonObject): JsonObject;
}

const TOOL: Kind = {
  noun: 'tool',
  list: (client) => client.listTools(),
  members: ['tools'],
  keyOf: ({ name }) => String(name),
  encode: (revision, entry) => revision.tool({ inputSchema: {}, ...entry } as unknown as ToolEntry),
};

const RESOURCE: Kind = {
  noun: 'resource',
  list: async (client) => [...(await client.listResources()), ...(await client.listResourceTemplates())],
  members: ['resources', 'resourceTemplates'],
  keyOf: ({ uri, uriTemplate }) => String(uri ?? uriTemplate),
  encode: (revision, entry) =>
    'uriTemplate' in entry
      ? revision.resourceTemplate(entry as unknown as ResourceTemplateEntry)
      : revision.resource(entry as unknown as ResourceEntry),
};

const PROMPT: Kind = {
  noun: 'prompt',
  list: (client) => client.listPrompts(),
  members: ['prompts'],
  keyOf: ({ name }) => String(name),
  encode: (revision, entry) => revision.prompt(entry as unknown as PromptEntry),
};

/** Entries of one kind, and the revision in which they are encoded, if it is known. */
interface Listed {
  readonly entries: readonly JsonObject[];
  readonly revision: Revision | undefined;
}

/** Lists the entries of a kind. A server that has none may not know the method. */
async function listOf(client: TestClient, kind: Kind): Promise<Listed> {
  const revision = revisionOf(client.revision);
  try {
    return { entries: (await kind.list(client)) as readonly JsonObject[], revision };
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== FAILURES['method-not-found'].code) throw error;
    return { entries: [], revision };
  }
}

function listedIn(received: unknown, { members, noun }: Kind): Listed {
  if (Array.isArray(received)) return { entries: received as readonly JsonObject[], revision: undefined };
  const lists = isObject(received) ? members.map((member) => received[member]) : [];
  if (!lists.some(Array.isArray)) {
    throw new TypeError(`Pass a client, a list of ${noun}s or a contract, not ${show(received)}.`);
  }
  const { revision } = received as { readonly revision?: unknown };
  return { entries: lists.filter(Array.isArray).flat() as readonly JsonObject[], revision: revisionOf(revision) };
}

/**
 * The expected fields that can be checked in this revision. Older revisions lack some fields, and some send the title
 * in place of the name. A field that no revision has is kept, so that the matcher reports the mistake in the test.
 */
function expectable(kind: Kind, expected: JsonObject, { entry, revision }: Found): JsonObject {
  if (revision === undefined) return expected;
  const probe = { ...entry, name: 'name', title: 'title', ...expected };
  const [own, newest] = [kind.encode(revision, probe), kind.encode(newestOf('stateless'), probe)];
  const isSpoken = (field: string) => {
    if (field === 'name' && own['name'] !== newest['name']) return false;
    return field in own || !(field in newest);
  };
  return Object.fromEntries(Object.entries(expected).filter(([field]) => isSpoken(field)));
}

interface Found {
  readonly entry: JsonObject;
  readonly revision: Revision | undefined;
}

function judgeList(context: MatcherContext, { entries, revision }: Listed, asked: Asked): Verdict {
  const { kind, name, expected } = asked;
  const { noun } = kind;
  const keys = entries.map(kind.keyOf);
  const entry = entries[keys.indexOf(name)];
  const has = keys.length === 0 ? `It has no ${noun}s.` : `It has:\n\n${indented(keys)}`;
  if (entry === undefined) {
    return { pass: false, message: () => `The server has no ${noun} ${show(name)}. ${has}` };
  }
  const wrong =
    expected && differences(context, expectable(kind, expected, { entry, revision }), { value: entry, path: '' });
  const like = expected ? ` like ${show(expected)}` : '';
  return {
    pass: wrong === undefined || wrong.length === 0,
    message: () =>
      wrong !== undefined && wrong.length > 0
        ? `The server has the ${noun} ${show(name)}, but it differs from what is expected:\n\n${indented(wrong)}`
        : `The server has the ${noun} ${show(name)}${like}, but should not.`,
  };
}

interface Asked {
  readonly kind: Kind;
  readonly name: string;
  readonly expected: JsonObject | undefined;
}

type EntryArguments = [name: string, expected?: object];

const judgeOf =
  (kind: Kind): Judge<EntryArguments> =>
  (context, received, [name, expected]) => {
    const asked = { kind, name, expected: expected as JsonObject | undefined };
    if (!(received instanceof TestClient)) return judgeList(context, listedIn(received, kind), asked);
    return listOf(received, kind).then((listed) => judgeList(context, listed, asked));
  };

/** Whether a server has a tool. */
export const hasTool = judgeOf(TOOL);

/** Whether a server has a resource or a template. */
export const hasResource = judgeOf(RESOURCE);

/** Whether a server has a prompt. */
export const hasPrompt = judgeOf(PROMPT);
