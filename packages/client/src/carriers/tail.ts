const MAX_CHARS = 4096;
const MAX_LINES = 20;

/** Keeps the last lines of a program's output. */
export class Tail {
  private text = '';

  add(chunk: string): void {
    this.text = (this.text + chunk).slice(-MAX_CHARS);
  }

  /** The last lines, indented. Empty if the program has printed nothing. */
  shown(): string {
    const lines = this.text.trimEnd().split('\n').slice(-MAX_LINES);
    return lines.join('').trim() === '' ? '' : lines.map((line) => `  ${line}`).join('\n');
  }
}
