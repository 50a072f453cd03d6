import { CommandFailure, EXIT } from 'create-decorum';

/** The kinds of members, as the command line spells them. */
export const KINDS = ['tool', 'resource', 'prompt', 'completion'] as const;

/** A kind of member. */
export type Kind = (typeof KINDS)[number];

/** Kinds with a name and a DTO. */
export type ListedKind = Exclude<Kind, 'completion'>;

/** The names of a new member. */
export interface Names {
  /** The name for clients, as the user typed it. */
  readonly name: string;
  /** The name in words, for people. */
  readonly words: string;
  /** The name of the method. */
  readonly method: string;
  readonly dto: string;
  /** A URI scheme (RFC 3986, section 3.1). */
  readonly scheme: string;
}

const DTO_SUFFIX: Readonly<Record<ListedKind, string>> = { tool: 'Input', resource: 'Params', prompt: 'Args' };

/** Methods with a special meaning: hooks, and methods that JavaScript calls. */
const RESERVED = new Set(['constructor', 'then', 'toJSON', 'onStart', 'onClose']);

/** Whether JavaScript or Decorum calls methods of this name. */
export const isReserved = (name: string): boolean => RESERVED.has(name) || name in Object.prototype;

const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** The words of `getWeather`, `get-weather` or `HTTPGet`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
}

/** `getWeather` for `get-weather`. Valid names stay unchanged. */
export function camelCase(name: string): string {
  if (/^[a-z][A-Za-z0-9]*$/.test(name)) return name;
  const [first = '', ...rest] = wordsOf(name);
  return first.toLowerCase() + rest.map(capitalized).join('');
}

/** `get-weather` for `getWeather`. */
export const kebabCase = (name: string): string => wordsOf(name).join('-').toLowerCase();

/** `GetWeather` for `get-weather`. */
export const pascalCase = (name: string): string => capitalized(camelCase(name));

/**
 * @param isTaken whether the class reserves a method name
 * @throws {CommandFailure} for a name that clients reject
 */
export function namesFor(kind: ListedKind, name: string, isTaken: (method: string) => boolean): Names {
  if (!/^[A-Za-z0-9_.-]{1,128}$/.test(name) || !/[A-Za-z0-9]/.test(name)) {
    const rule = 'A name has 1 to 128 characters from A–Z a–z 0–9 _ - . and at least one letter or digit';
    throw new CommandFailure(`"${name}" can't be the name of a ${kind}. ${rule}.`, EXIT.usage);
  }
  const words = wordsOf(name);
  // identifiers and URI schemes start with a letter
  const started = /^[0-9]/.test(words[0] ?? '') ? [kind, ...words] : words;
  const plain = camelCase(words === started ? name : started.join('-'));
  const method = isReserved(plain) || isTaken(plain) ? `${plain}${capitalized(kind)}` : plain;
  return {
    name,
    words: words.map((word) => (word === word.toUpperCase() ? word : word.toLowerCase())).join(' '),
    method,
    dto: `${capitalized(plain)}${DTO_SUFFIX[kind]}`,
    scheme: started.join('-').toLowerCase(),
  };
}
