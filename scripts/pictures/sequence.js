/** Draws who sends what to whom, from top to bottom. */
import { ACCENT, arrow, FILL, label, PAPER, SOFT, svg } from './svg.js';

/**
 * A message from one actor to another, something that an actor does, or a heading.
 * @typedef {{ from: string, to: string, text: string, reply?: boolean } | { at: string, text: string } | { heading: string }} Step
 */

const STEP = 38;
const TOP = 62;

/**
 * @param {{ title: string, actors: readonly string[], steps: readonly Step[], width?: number }} sequence
 * @returns {string}
 */
export function sequence({ title, actors, steps, width = 760 }) {
  const gap = width / actors.length;
  const places = new Map(actors.map((name, index) => [name, gap * (index + 0.5)]));
  /** @param {string} name */
  const placeOf = (name) => {
    const x = places.get(name);
    if (x === undefined) throw new Error(`${title}: there is no "${name}".`);
    return x;
  };
  const height = TOP + steps.length * STEP + 20;
  const heads = [...places].flatMap(([name, x]) => [
    `<line x1="${x}" y1="46" x2="${x}" y2="${height - 14}" stroke="${SOFT}" stroke-width="1" stroke-dasharray="2 4"/>`,
    `<rect x="${x - 75}" y="16" width="150" height="30" rx="6" fill="${FILL}" stroke="${ACCENT}"/>`,
    label(name, { x, y: 36, bold: true }),
  ]);
  const rows = steps.flatMap((step, index) => {
    const y = TOP + index * STEP + 22;
    if ('heading' in step) {
      const long = step.heading.length * 8;
      return [
        `<rect x="14" y="${y - 18}" width="${long}" height="26" fill="${PAPER}"/>`,
        label(step.heading, { x: 18, y, anchor: 'start', fill: ACCENT, bold: true }),
      ];
    }
    if ('at' in step) {
      const x = placeOf(step.at);
      const half = step.text.length * 3.4 + 12;
      return [
        `<rect x="${x - half}" y="${y - 17}" width="${half * 2}" height="26" rx="13" fill="#fff" stroke="${SOFT}"/>`,
        label(step.text, { x, y, size: 12.5 }),
      ];
    }
    const [from, to] = [placeOf(step.from), placeOf(step.to)];
    return [
      label(step.text, { x: (from + to) / 2, y: y - 4, size: 12.5, halo: true }),
      arrow([from + Math.sign(to - from) * 3, y + 4, to - Math.sign(to - from) * 3, y + 4], {
        dashed: step.reply === true,
      }),
    ];
  });
  return svg({ title, width, height }, [...heads, ...rows]);
}
