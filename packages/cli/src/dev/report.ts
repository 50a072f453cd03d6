import type { About, Migration } from './frontend.js';
import type { Lists } from './lists.js';

const KINDS = [
  ['tool', ['tools/list']],
  ['resource', ['resources/list', 'resources/templates/list']],
  ['prompt', ['prompts/list']],
] as const;

const MAX_CHANGES = 6;
const INDENT = ' '.repeat(10);

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function contents(lists: Lists): string {
  return KINDS.map(([noun, methods]) => [noun, methods.reduce((sum, method) => sum + lists[method].size, 0)] as const)
    .filter(([noun, count]) => count > 0 || noun === 'tool')
    .map(([noun, count]) => counted(count, noun))
    .join(', ');
}

const time = (): string => new Date().toTimeString().slice(0, 8);

/** Formats the output of `decorum dev` itself. It goes to stderr: over stdio, stdout carries messages. */
export class Report {
  constructor(readonly write: (text: string) => void) {}

  serving({ catalog, place, cards }: About, entry: string): void {
    const { name = entry, version = '' } = catalog?.info ?? {};
    this.line([`${String(name)} ${String(version)}`.trimEnd(), ...(catalog ? [contents(catalog.lists)] : []), place]);
    if (cards !== undefined) this.cards(cards);
  }

  reloaded(files: readonly string[], ms: number, { changes, notified, cards }: Migration): void {
    const shown = changes.slice(0, MAX_CHANGES).map(({ sign, kind, name }) => `${sign} ${kind} ${name}`);
    if (changes.length > MAX_CHANGES) shown.push(`and ${changes.length - MAX_CHANGES} more`);
    const reached = notified > 0 ? [`${counted(notified, 'client')} told`] : [];
    this.line([`${time()}  ${files.join(', ')}  ${Math.round(ms)} ms`, ...shown, ...reached]);
    if (cards !== undefined) this.cards(cards);
  }

  /**
   * Prints a problem.
   * @param consequence its effect, such as `waiting for an edit`
   */
  problem(text: string, consequence: string): void {
    const lines = `${text}\n${consequence}`.split('\n');
    this.write(`${[`${time()}  ${lines[0]}`, ...lines.slice(1).map((line) => `${INDENT}${line}`)].join('\n')}\n`);
  }

  note(text: string): void {
    this.write(`${time()}  ${text}\n`);
  }

  private cards(url: string): void {
    this.line(['cards', url]);
  }

  private line(parts: readonly string[]): void {
    this.write(`${parts.join('   ')}\n`);
  }
}
