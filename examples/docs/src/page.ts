import { basename } from 'node:path/posix';

/** One heading with the text below it, up to the next heading. */
export interface Section {
  readonly heading: string;
  /** 1 to 6; 0 for the text before the first heading. */
  readonly level: number;
  /** Fragment of a link to the heading, as on GitHub. */
  readonly anchor: string;
  readonly body: string;
}

/** A Markdown file. */
export interface Page {
  /** Path relative to the folder, with `/` on every system. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
  /** Size in bytes. */
  readonly size: number;
  /** Time of the last change in ISO 8601. */
  readonly modified: string;
  readonly sections: readonly Section[];
}

export const MARKDOWN = 'text/markdown';

/** URI of a page. It must match the template `docs://{+path}`. */
export const uriOf = (path: string): string => `docs://${encodeURI(path)}`;

/** Parses the title and sections of a Markdown file. */
export function parsePage(file: Omit<Page, 'title' | 'sections'>): Page {
  const sections = sectionsOf(file.text.replace(/^---\r?\n[^]*?\n---\r?\n/, ''));
  const first = sections.find(({ level }) => level > 0);
  return { ...file, title: first?.heading ?? basename(file.path, '.md'), sections };
}

/** The Markdown of a section and its subsections, or undefined if the page has no such anchor. */
export function sectionText({ sections }: Page, anchor: string): string | undefined {
  const start = sections.findIndex((section) => section.anchor === anchor);
  const top = sections[start];
  if (!top) return undefined;
  const next = sections.findIndex(({ level }, index) => index > start && level <= top.level);
  const wanted = sections.slice(start, next === -1 ? undefined : next);
  return wanted.map(({ level, heading, body }) => `${'#'.repeat(level)} ${heading}\n\n${body}`.trim()).join('\n\n');
}

function sectionsOf(markdown: string): Section[] {
  const sections: Section[] = [];
  const anchors = new Map<string, number>();
  let current = { heading: '', level: 0, anchor: '' };
  let lines: string[] = [];
  let fence = '';
  const finish = () => {
    const body = lines.join('\n').trim();
    if (current.level > 0 || body) sections.push({ ...current, body });
    lines = [];
  };
  for (const line of markdown.split(/\r?\n/)) {
    fence = fenceAfter(line, fence);
    // a "# comment" in a shell example is not a heading
    const [, marks, heading] = (fence ? null : /^ {0,3}(#{1,6})[ \t]+(.*)$/.exec(line)) ?? [];
    if (marks === undefined || heading === undefined) {
      lines.push(line);
      continue;
    }
    finish();
    const plain = plainText(heading);
    current = { heading: plain, level: marks.length, anchor: anchorOf(plain, anchors) };
  }
  finish();
  return sections;
}

/** The fence of the code block that is open after a line, or an empty string outside code blocks. */
function fenceAfter(line: string, open: string): string {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
  if (!open) return fence;
  return fence.startsWith(open) ? '' : open;
}

function plainText(heading: string): string {
  return heading
    .replace(/ #+ *$/, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .trim();
}

function anchorOf(heading: string, taken: Map<string, number>): string {
  const slug = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replace(/ /g, '-');
  const count = taken.get(slug) ?? 0;
  taken.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}
