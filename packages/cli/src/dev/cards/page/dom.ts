/** What an element has besides its children. */
interface Options {
  readonly class?: string;
  readonly title?: string;
}

/** Creates an element. Text is always text: what servers and cards send is never parsed as HTML. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  options: Options = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag);
  if (options.class !== undefined) created.className = options.class;
  if (options.title !== undefined) created.title = options.title;
  created.append(...children);
  return created;
}

/**
 * An element of the page.
 * @throws {Error} if the page has none with this id
 */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${type.name} #${id}.`);
}

const MAX_TEXT = 50_000;

/** A value as text for people. */
export function pretty(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2) ?? 'undefined';
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}\n… and ${text.length - MAX_TEXT} more characters` : text;
}

/** What is known of an error. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
