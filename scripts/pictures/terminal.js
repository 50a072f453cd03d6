/** Draws terminals that move: lines appear when they did. It is one picture without scripts, which pages show as any other. */
import { escaped } from './svg.js';

/**
 * A line, in the terminal with this index, so many seconds after the one before it. Commands are typed.
 * @typedef {{ terminal: number, after: number, text: string, isCommand?: boolean }} Line
 */

const LINE = 17;
const COLUMN = 7.25;
const HEAD = 26;
/** Seconds that the end stays before it begins again. */
const REST = 6;

/**
 * @param {{ title: string, columns: number, terminals: readonly { name: string, rows: number }[], lines: readonly Line[] }} recording
 * @returns {string}
 */
export function terminal({ title, columns, terminals, lines }) {
  const width = Math.round(columns * COLUMN) + 32;
  const tops = terminals.map((_each, index) =>
    terminals.slice(0, index).reduce((sum, { rows }) => sum + HEAD + rows * LINE + 22, 10),
  );
  const height = terminals.reduce((sum, { rows }) => sum + HEAD + rows * LINE + 22, 20);
  const total = lines.reduce((sum, { after }) => sum + after, REST);
  let time = 0;
  const used = terminals.map(() => 0);
  const frames = lines.map(({ terminal: at, after, text, isCommand = false }, index) => {
    time += after;
    const row = used[at] ?? 0;
    used[at] = row + 1;
    if (row >= (terminals[at]?.rows ?? 0)) throw new Error(`Terminal ${at} has no room for "${text}".`);
    const share = ((time / total) * 100).toFixed(2);
    const y = (tops[at] ?? 0) + HEAD + 18 + row * LINE;
    return {
      style: `@keyframes k${index}{0%,${share}%{opacity:0}${(Number(share) + 0.01).toFixed(2)}%{opacity:1}}#l${index}{animation-name:k${index}}`,
      text: `<text id="l${index}" class="${isCommand ? 'c' : 'o'}" x="16" y="${y}">${escaped(text)}</text>`,
    };
  });
  const panes = terminals.flatMap(({ name, rows }, index) => [
    `<rect x="8" y="${tops[index]}" width="${width - 16}" height="${HEAD + rows * LINE + 12}" rx="8" fill="#1b1f27"/>`,
    `<text x="${width / 2}" y="${(tops[index] ?? 0) + 18}" text-anchor="middle" class="n">${escaped(name)}</text>`,
  ]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    '<style>text{font:12px ui-monospace,Menlo,Consolas,monospace;white-space:pre}.o{fill:#c9d1d9}.c{fill:#7ee0a3}.n{fill:#9aa4b2}',
    `.o,.c{animation-duration:${total.toFixed(1)}s;animation-iteration-count:infinite;animation-fill-mode:both}`,
    ...frames.map(({ style }) => style),
    '@media (prefers-reduced-motion:reduce){.o,.c{animation:none}}</style>',
    ...panes,
    ...frames.map(({ text }) => text),
    '</svg>',
    '',
  ].join('\n');
}
