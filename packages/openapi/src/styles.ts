// How OpenAPI writes parameters: "Style Examples" of OpenAPI 3.1.1, which agrees with RFC 6570.
import { isObject, wellFormed } from './json.js';

/** How a value is written. */
export interface Style {
  readonly style: string;
  readonly explode: boolean;
  readonly allowReserved: boolean;
}

type Encode = (text: string) => string;

/** Percent-encodes all but the unreserved characters (RFC 3986, section 2.3). */
export const encode: Encode = (text) =>
  encodeURIComponent(wellFormed(text)).replaceAll(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Keeps reserved characters, except those that would begin a new parameter or a fragment, or that no query may have. */
const encodeReserved: Encode = (text) =>
  encode(text).replaceAll(/%(?:3A|2F|3F|40|21|24|27|28|29|2A|2B|2C|3B|3D)/g, (code) => decodeURIComponent(code));

/** A value within a parameter as text. Objects and lists that a style can't write become JSON. */
const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value);

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

const listOf = (value: readonly unknown[], encoding: Encode): string[] =>
  value.filter(isPresent).map((each) => encoding(textOf(each)));

const pairsOf = (value: object, encoding: Encode): [string, string][] =>
  Object.entries(value)
    .filter(([, each]) => isPresent(each))
    .map(([name, each]) => [encoding(name), encoding(textOf(each))]);

/** A value in a path: `simple`, `label` or `matrix`. */
export function inPath(name: string, value: unknown, { style, explode }: Style): string {
  const key = encode(name);
  if (Array.isArray(value)) {
    const items = listOf(value, encode);
    if (style === 'label') return `.${items.join(explode ? '.' : ',')}`;
    if (style !== 'matrix') return items.join(',');
    return explode ? items.map((each) => `;${key}=${each}`).join('') : `;${key}=${items.join(',')}`;
  }
  if (isObject(value)) {
    const pairs = pairsOf(value, encode);
    const joined = pairs.map((pair) => pair.join(explode ? '=' : ','));
    if (style === 'label') return `.${joined.join(explode ? '.' : ',')}`;
    if (style !== 'matrix') return joined.join(',');
    return explode ? joined.map((each) => `;${each}`).join('') : `;${key}=${joined.join(',')}`;
  }
  const text = encode(textOf(value));
  if (style === 'label') return `.${text}`;
  return style === 'matrix' ? `;${key}${text === '' ? '' : `=${text}`}` : text;
}

const DELIMITERS: Readonly<Record<string, string>> = { form: ',', spaceDelimited: '%20', pipeDelimited: '%7C' };

function deepPairs(key: string, value: unknown, encoding: Encode): string[] {
  if (!isPresent(value)) return [];
  if (typeof value !== 'object') return [`${encode(key)}=${encoding(textOf(value))}`];
  return Object.entries(value as object).flatMap(([name, each]) => deepPairs(`${key}[${name}]`, each, encoding));
}

/** The `name=value` pairs of a value in a query or form: `form`, `spaceDelimited`, `pipeDelimited` or `deepObject`. */
export function inQuery(name: string, value: unknown, { style, explode, allowReserved }: Style): string[] {
  const encoding = allowReserved ? encodeReserved : encode;
  if (!isPresent(value)) return [];
  if (style === 'deepObject' && typeof value === 'object') return deepPairs(name, value, encoding);
  const key = encode(name);
  const delimiter = DELIMITERS[style] ?? ',';
  if (Array.isArray(value)) {
    const items = listOf(value, encoding);
    if (explode) return items.map((each) => `${key}=${each}`);
    return items.length > 0 ? [`${key}=${items.join(delimiter)}`] : [];
  }
  if (isObject(value)) {
    const pairs = pairsOf(value, encoding);
    if (explode) return pairs.map((pair) => pair.join('='));
    return pairs.length > 0 ? [`${key}=${pairs.flat().join(delimiter)}`] : [];
  }
  return [`${key}=${encoding(textOf(value))}`];
}

/** A value in a header: `simple`. Nothing is encoded. */
export function inHeader(value: unknown, explode: boolean): string {
  const asIs: Encode = (text) => text;
  if (Array.isArray(value)) return listOf(value, asIs).join(',');
  if (!isObject(value)) return textOf(value);
  return pairsOf(value, asIs)
    .map((pair) => pair.join(explode ? '=' : ','))
    .join(',');
}
