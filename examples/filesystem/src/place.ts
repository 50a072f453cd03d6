/**
 * The first place of a text in another one, or of lines among others (Knuth, Morris and Pratt). Unlike `indexOf`, it
 * takes linear time for every text.
 * @returns -1 if there is none
 */
export function placeOf<T>(wanted: ArrayLike<T>, within: ArrayLike<T>): number {
  if (wanted.length === 0) return 0;
  if (wanted.length > within.length) return -1;
  // how much of the start still fits, after a mismatch behind each item
  const rest = new Int32Array(wanted.length);
  for (let at = 1, fits = 0; at < wanted.length; at += 1) {
    while (fits > 0 && wanted[at] !== wanted[fits]) fits = rest[fits - 1] as number;
    if (wanted[at] === wanted[fits]) fits += 1;
    rest[at] = fits;
  }
  for (let at = 0, fits = 0; at < within.length; at += 1) {
    while (fits > 0 && within[at] !== wanted[fits]) fits = rest[fits - 1] as number;
    if (within[at] === wanted[fits]) fits += 1;
    if (fits === wanted.length) return at - fits + 1;
  }
  return -1;
}
