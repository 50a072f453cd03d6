/**
 * The paper that pictures are drawn on. It is light in both themes, so that one file does for pages on any background.
 * Text is set in the reader's own font, so a picture is small and needs no other file.
 */

export const INK = '#22242a';
export const SOFT = '#5b606b';
export const ACCENT = '#0f5fa8';
export const FILL = '#eef4fb';
export const PAPER = '#fbfaf7';
const EDGE = '#dcd8cf';

/** @param {string} text */
export const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/**
 * Text at a place.
 * @param {string} text
 * @param {{ x: number, y: number, anchor?: 'start' | 'middle' | 'end', size?: number, fill?: string, bold?: boolean, halo?: boolean }} style
 */
export function label(text, { x, y, anchor = 'middle', size = 13, fill = INK, bold = false, halo = false }) {
  // keeps lines behind it from running through its letters
  const outline = halo ? ` paint-order="stroke" stroke="${PAPER}" stroke-width="5"` : '';
  const weight = bold ? ' font-weight="600"' : '';
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" font-size="${size}" fill="${fill}"${outline}${weight}>${escaped(text)}</text>`;
}

/**
 * A line with an arrow at its end.
 * @param {readonly [x1: number, y1: number, x2: number, y2: number]} ends
 * @param {{ dashed?: boolean, both?: boolean }} [style]
 */
export function arrow([x1, y1, x2, y2], { dashed = false, both = false } = {}) {
  const dash = dashed ? ' stroke-dasharray="5 4"' : '';
  const start = both ? ' marker-start="url(#head)"' : '';
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${SOFT}" stroke-width="1.5"${dash}${start} marker-end="url(#head)"/>`;
}

/**
 * A picture of its own.
 * @param {{ title: string, width: number, height: number }} picture the title says what there is to see, for those who can't
 * @param {readonly string[]} parts
 */
export function svg({ title, width, height }, parts) {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif">`,
    `<title>${escaped(title)}</title>`,
    '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">',
    `<path d="M0 0.5 8 4 0 7.5z" fill="${SOFT}"/></marker></defs>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${PAPER}" stroke="${EDGE}"/>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
