/** Markup that is safe to send. All of it comes from `markup` or from constants. */
export class Html {
  constructor(readonly source: string) {}
}

/** What a template may contain: text, which is escaped, and markup. */
type Part = string | number | Html | readonly Html[] | undefined;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function markupOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.source;
  if (typeof part === 'object') return part.map(({ source }) => source).join('');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}

/**
 * Builds markup, and escapes its texts. Attributes must have double quotes. It isn't called `html`, because formatters
 * add white space to such templates, and the digest of the style wouldn't fit.
 */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(markupOf)));
}
