import type { Kind, ListedKind, Names } from './names.js';
import type { Need } from './needs.js';
import type { Style } from './style.js';

/** The field of a DTO, with a sample for the test. */
interface Field {
  readonly name: string;
  readonly about: string;
  readonly sample: string;
}

const FIELDS: Readonly<Record<ListedKind, Field>> = {
  tool: { name: 'query', about: 'What to look for', sample: 'Oslo' },
  resource: { name: 'id', about: 'Which one to read', sample: '42' },
  prompt: { name: 'topic', about: 'What it is about', sample: 'Oslo' },
};

const ABOUT: Readonly<Record<ListedKind, string>> = {
  tool: 'what it does and when to use it',
  resource: 'what it contains',
  prompt: 'what it asks for',
};

/** Longer options are written one per line, which formatters keep. */
const MAX_LENGTH = 78;

/** Values of a new completion. */
const VALUES = ['first', 'second', 'third'];

/**
 * How a DTO declares its rules: with class-validator, with `@Schema` if class-validator's decorators don't work, or
 * with zod.
 */
export type Rules = 'class-validator' | 'schema' | 'zod';

/** A new member with a DTO. */
export interface NewMember {
  readonly kind: ListedKind;
  readonly names: Names;
  /** Whether to name the DTO in the decorator, because the compiler emits no types. */
  readonly namesInput: boolean;
  readonly rules: Rules;
  readonly isDescribed: boolean;
}

/** A new completion. */
export interface NewCompletion {
  readonly kind: 'completion';
  readonly method: string;
  readonly for: readonly string[];
  readonly argument: string;
}

/** How to write code: its style, and the local names of imports. */
export interface Writing {
  readonly style: Style;
  readonly as: (name: string) => string;
}

/** Lines of code, indented only relative to each other. */
type Lines = readonly string[];

/** The exports that a member needs. */
export function needsOf(member: NewMember | NewCompletion): Need[] {
  const from = (module: Need['module'], names: readonly string[]) => names.map((name) => ({ module, name }));
  if (member.kind === 'completion') return from('@decorum/core', ['Completion']);
  if (member.rules === 'zod') return [...from('@decorum/core', [decoratorOf(member.kind)]), ...from('zod', ['z'])];
  const core = [decoratorOf(member.kind), ...(member.isDescribed ? ['Describe'] : [])];
  return member.rules === 'schema'
    ? from('@decorum/core', [...core, 'Schema'])
    : [...from('@decorum/core', core), ...from('class-validator', ['IsString'])];
}

const decoratorOf = (kind: Kind): string => kind.charAt(0).toUpperCase() + kind.slice(1);

/** Lines of the DTO of a member. */
export function dtoLines(member: NewMember, { style, as }: Writing): Lines {
  const { quote, semi, unit } = style;
  const { name, about } = FIELDS[member.kind];
  if (member.rules === 'zod') {
    const field = `${name}: ${as('z')}.string().describe(${quote}${about}${quote})`;
    return [`const ${member.names.dto} = ${as('z')}.object({ ${field} })${semi}`];
  }
  const describe = member.isDescribed ? `@${as('Describe')}(${quote}${about}${quote}) ` : '';
  const rule =
    member.rules === 'schema' ? `@${as('Schema')}({ type: ${quote}string${quote} })` : `@${as('IsString')}()`;
  return [`class ${member.names.dto} {`, `${unit}${describe}${rule} ${name}!: string${semi}`, '}'];
}

/** The URI template of a resource. */
export const templateOf = ({ scheme }: Names): string => `${scheme}://{${FIELDS.resource.name}}`;

/** Lines of a member with a DTO. */
export function memberLines(member: NewMember, { style, as }: Writing): Lines {
  const { quote, semi, unit } = style;
  const { kind, names } = member;
  const { name } = FIELDS[kind];
  const quoted = (text: string) => `${quote}${text}${quote}`;
  const options = [
    ...(names.method === names.name ? [] : [`name: ${quoted(names.name)}`]),
    `description: ${quoted(`TODO: ${ABOUT[kind]}`)}`,
    ...(member.namesInput ? [`input: ${names.dto}`] : []),
    ...(kind === 'resource' ? [`mimeType: ${quoted('text/plain')}`] : []),
  ];
  const uri = kind === 'resource' ? `${quoted(templateOf(names))}, ` : '';
  const start = `@${as(decoratorOf(kind))}(${uri}{`;
  const oneLine = `${start} ${options.join(', ')} })`;
  return [
    ...(oneLine.length <= MAX_LENGTH ? [oneLine] : [start, ...options.map((each) => `${unit}${each},`), '})']),
    `${names.method}({ ${name} }: ${member.rules === 'zod' ? `{ ${name}: string }` : names.dto}): string {`,
    `${unit}return \`${answerOf(member, `\${${name}}`)}\`${semi}`,
    '}',
  ];
}

/** The answer of a new member. */
function answerOf({ kind, names }: NewMember, value: string): string {
  return kind === 'prompt' ? `Tell me about ${names.words}: ${value}` : `${names.words}: ${value}`;
}

/** Lines of a completion. */
export function completionLines(member: NewCompletion, { style, as }: Writing): Lines {
  const { quote, semi, unit } = style;
  const quoted = (text: string) => `${quote}${text}${quote}`;
  const [first = ''] = member.for;
  const targets = member.for.length === 1 ? quoted(first) : `[${member.for.map(quoted).join(', ')}]`;
  return [
    `@${as('Completion')}({ for: ${targets}, argument: ${quoted(member.argument)} })`,
    `${member.method}(typed: string): string[] {`,
    `${unit}return [${VALUES.map(quoted).join(', ')}].filter((value) => value.startsWith(typed))${semi}`,
    '}',
  ];
}

/** A request in the generated test, and its expected result. */
export interface Exchange {
  /** The title of the test. */
  readonly title: string;
  /** The field that the test reads from the result. */
  readonly result: string;
  readonly call: string;
  /** The expected value, as code. */
  readonly expected: string;
}

/**
 * @param reference code of the completed prompt or template, for a completion
 */
export function exchangeOf(member: NewMember | NewCompletion, { quote }: Style, reference = ''): Exchange {
  const quoted = (text: string) => `${quote}${text}${quote}`;
  if (member.kind === 'completion') {
    const [first = ''] = VALUES;
    const argument = `{ name: ${quoted(member.argument)}, value: ${quoted(first.charAt(0))} }`;
    return {
      title: `completes ${member.argument}`,
      result: 'values',
      call: `complete(${reference}, ${argument})`,
      expected: `[${quoted(first)}]`,
    };
  }
  const { kind, names } = member;
  const { name, sample } = FIELDS[kind];
  const answer = quoted(answerOf(member, sample));
  const given = `${quoted(names.name)}, { ${name}: ${quoted(sample)} }`;
  const title = `serves the ${kind} ${names.name}`;
  const content = `{ type: ${quoted('text')}, text: ${answer} }`;
  if (kind === 'tool') return { title, result: 'content', call: `callTool(${given})`, expected: `[${content}]` };
  if (kind === 'prompt') {
    const message = `{ role: ${quoted('user')}, content: ${content} }`;
    return { title, result: 'messages', call: `getPrompt(${given})`, expected: `[${message}]` };
  }
  const uri = `${names.scheme}://${sample}`;
  const contents = `{ uri: ${quoted(uri)}, mimeType: ${quoted('text/plain')}, text: ${answer} }`;
  return { title, result: 'contents', call: `readResource(${quoted(uri)})`, expected: `[${contents}]` };
}
