/** The lists of a server in one revision, as it sends them. */
export interface Lists {
  /** Tools and prompts may have `aliases`, other names that can still be called; any entry may have `listed: false`. */
  readonly tools?: object[];
  readonly prompts?: object[];
  readonly resources?: object[];
  readonly resourceTemplates?: object[];
}

/** What a server offers: its lists by revision of the protocol. */
export interface Contract {
  readonly server: { readonly name: string };
  readonly revisions: Readonly<Record<string, Lists>>;
}

/** A change of a contract whose effect on clients is known. */
export interface SeededChange {
  readonly title: string;
  readonly before: Contract;
  readonly after: Contract;
  /** The name, URI or revision that the text of the finding must contain. Empty for harmless changes. */
  readonly member: string;
}

/** A change of one schema of one tool. */
export interface SchemaChange {
  readonly title: string;
  readonly tool: string;
  readonly before: object;
  readonly after: object;
}

/** Every revision of the protocol, oldest first. */
export const REVISIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

/** A contract with the same lists in all revisions, except for those that `others` gives. */
export function everywhere(lists: Lists, others: Readonly<Record<string, Lists>> = {}): Contract {
  const same = Object.fromEntries(REVISIONS.map((revision) => [revision, lists]));
  return { server: { name: 'shop' }, revisions: { ...same, ...others } };
}

/** A contract with the same lists in all revisions but one, which is not served. */
export function everywhereBut(revision: string, lists: Lists): Contract {
  const { [revision]: _notServed, ...revisions } = everywhere(lists).revisions;
  return { server: { name: 'shop' }, revisions };
}

/** An object schema with the required properties, and optional ones. */
export const object = (required: object, optional: object = {}): object => ({
  type: 'object',
  properties: { ...required, ...optional },
  ...(Object.keys(required).length > 0 && { required: Object.keys(required) }),
});

/** An object schema whose properties are optional. */
export const optional = (properties: object): object => object({}, properties);

/** An array schema. */
export const arrayOf = (items: object): object => ({ type: 'array', items });

/** A string schema with the keywords given. */
export const text = (keywords: object = {}): object => ({ type: 'string', ...keywords });

/** The keywords of a condition. */
export const when = (condition: object, consequence: object): object => ({
  if: condition,
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: consequence,
});

/** An entry of `tools/list`. */
export const tool = (name: string, keys: object = {}): object => ({
  name,
  description: `Runs ${name}`,
  inputSchema: optional({ query: text() }),
  ...keys,
});

/** An entry of `prompts/list`. */
export const prompt = (name: string, keys: object = {}): object => ({ name, description: `Writes ${name}`, ...keys });

/** A change of the lists in all revisions. */
export const listsChange = (change: { title: string; before: Lists; after: Lists; member: string }): SeededChange => ({
  ...change,
  before: everywhere(change.before),
  after: everywhere(change.after),
});

const schemaChange = (keyword: 'inputSchema' | 'outputSchema', isBreaking: boolean) => (change: SchemaChange) =>
  listsChange({
    title: change.title,
    before: { tools: [tool(change.tool, { [keyword]: change.before })] },
    after: { tools: [tool(change.tool, { [keyword]: change.after })] },
    member: isBreaking ? change.tool : '',
  });

/** A change of a tool's input that some valid call does not survive. */
export const breakingInput = schemaChange('inputSchema', true);

/** A change of a tool's output to results that clients may refuse. */
export const breakingOutput = schemaChange('outputSchema', true);

/** A change of a tool's input that every valid call survives. */
export const harmlessInput = schemaChange('inputSchema', false);

/** A change of a tool's output to results that clients accept as well. */
export const harmlessOutput = schemaChange('outputSchema', false);

/** A harmless change of the lists in all revisions. */
export const harmlessLists = (change: { title: string; before: Lists; after: Lists }): SeededChange =>
  listsChange({ ...change, member: '' });
