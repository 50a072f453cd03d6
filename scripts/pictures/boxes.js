/** Draws what there is, and what reaches what. */
import { ACCENT, arrow, FILL, label, SOFT, svg } from './svg.js';

/**
 * A box by its center. The first line is its name.
 * @typedef {{ x: number, y: number, width?: number, lines: readonly string[], soft?: boolean }} Box
 * @typedef {{ from: string, to: string, text?: string, dashed?: boolean, both?: boolean }} Edge
 */

const WIDTH = 150;
const heightOf = (/** @type {Box} */ { lines }) => 20 + lines.length * 17;

/**
 * Where the line from one box to another leaves it.
 * @param {Box} box
 * @param {Box} other
 * @returns {readonly [x: number, y: number]}
 */
function borderOf(box, other) {
  const [dx, dy] = [other.x - box.x, other.y - box.y];
  const [halfWidth, halfHeight] = [(box.width ?? WIDTH) / 2 + 2, heightOf(box) / 2 + 2];
  const scale = Math.min(halfWidth / Math.abs(dx || 1e-9), halfHeight / Math.abs(dy || 1e-9));
  return [Math.round(box.x + dx * scale), Math.round(box.y + dy * scale)];
}

/**
 * @param {{ title: string, width?: number, height: number, boxes: Readonly<Record<string, Box>>, edges: readonly Edge[] }} picture
 * @returns {string}
 */
export function boxes({ title, width = 760, height, boxes: all, edges }) {
  const drawn = Object.values(all).flatMap((box) => {
    const { x, y, width: wide = WIDTH, lines, soft = false } = box;
    const high = heightOf(box);
    const style = soft ? `fill="#fff" stroke="${SOFT}"` : `fill="${FILL}" stroke="${ACCENT}"`;
    return [
      `<rect x="${x - wide / 2}" y="${y - high / 2}" width="${wide}" height="${high}" rx="6" ${style}/>`,
      ...lines.map((line, index) =>
        label(line, { x, y: y - high / 2 + 22 + index * 17, bold: index === 0, size: index === 0 ? 13 : 12 }),
      ),
    ];
  });
  const lines = edges.flatMap(({ from, to, text, ...style }) => {
    const [a, b] = [all[from], all[to]];
    if (a === undefined || b === undefined) throw new Error(`${title}: ${from} or ${to} is not there.`);
    const [x1, y1] = borderOf(a, b);
    const [x2, y2] = borderOf(b, a);
    const isUpright = Math.abs(x2 - x1) < 20;
    const place = isUpright
      ? { x: x1 + 8, y: (y1 + y2) / 2 + 4, anchor: /** @type {const} */ ('start') }
      : { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 7 };
    return [
      arrow([x1, y1, x2, y2], style),
      ...(text === undefined ? [] : [label(text, { ...place, size: 12, fill: SOFT })]),
    ];
  });
  return svg({ title, width, height }, [...lines, ...drawn]);
}
