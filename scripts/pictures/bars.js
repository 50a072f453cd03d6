/** Draws figures of docs/operate/performance.md as bars. */
import { ACCENT, label, SOFT, svg } from './svg.js';

const LEFT = 190;
const ROW = 46;

/**
 * Two bars for each row: what is compared with, and ours.
 * @param {{ title: string, names: readonly [limit: string, ours: string], rows: readonly { name: string, limit: string, costs: string }[] }} chart
 * @returns {string}
 */
export function bars({ title, names, rows }) {
  const width = 760;
  const height = 66 + rows.length * ROW;
  const legend = [
    `<rect x="${LEFT}" y="22" width="12" height="12" fill="#b9bdc6"/>`,
    label(names[0], { x: LEFT + 18, y: 33, anchor: 'start', size: 12.5 }),
    `<rect x="${LEFT + 250}" y="22" width="12" height="12" fill="${ACCENT}"/>`,
    label(names[1], { x: LEFT + 268, y: 33, anchor: 'start', size: 12.5 }),
  ];
  const drawn = rows.flatMap(({ name, limit, costs }, index) => {
    const top = 52 + index * ROW;
    // each row has its own scale: what counts is how long the two are beside each other
    const scale = (width - LEFT - 120) / Math.max(numberOf(limit), numberOf(costs));
    return [
      label(name, { x: LEFT - 14, y: top + 22, anchor: 'end' }),
      ...[limit, costs].flatMap((value, at) => {
        const long = Math.round(numberOf(value) * scale);
        const y = top + at * 17;
        return [
          `<rect x="${LEFT}" y="${y}" width="${long}" height="14" rx="2" fill="${at === 0 ? '#b9bdc6' : ACCENT}"/>`,
          label(value, { x: LEFT + long + 8, y: y + 12, anchor: 'start', size: 12, fill: SOFT }),
        ];
      }),
    ];
  });
  return svg({ title, width, height }, [...legend, ...drawn]);
}

/** @param {string} text such as "25.2 µs" */
const numberOf = (text) => Number.parseFloat(text);

/**
 * The rows of a table of figures.
 * @param {string} page
 * @returns {{ case: string, server: string, limit: string, costs: string }[]}
 */
export function figuresIn(page) {
  return [...page.matchAll(/^\| (\S+) +\| (.+?) +\| (\S+ \S+) +\| (\S+ \S+) +\|/gm)].map(
    ([, name = '', server = '', limit = '', costs = '']) => ({ case: name, server, limit, costs }),
  );
}
