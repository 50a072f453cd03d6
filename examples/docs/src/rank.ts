/** Sorts the matching candidates: prefix matches first, those that only contain the letters in order last. */
export function rank(typed: string, candidates: readonly string[]): string[] {
  const wanted = typed.toLowerCase();
  return candidates
    .map((candidate) => ({ candidate, score: scoreOf(wanted, candidate.toLowerCase()) }))
    .filter(({ score }) => score > 0)
    .toSorted(
      (a, b) => b.score - a.score || a.candidate.length - b.candidate.length || (a.candidate < b.candidate ? -1 : 1),
    )
    .map(({ candidate }) => candidate);
}

function scoreOf(wanted: string, candidate: string): number {
  if (candidate.startsWith(wanted)) return 4;
  const place = candidate.indexOf(wanted);
  if (place > 0) return /[\p{L}\p{N}]/u.test(candidate.charAt(place - 1)) ? 2 : 3;
  return hasInOrder(wanted, candidate) ? 1 : 0;
}

function hasInOrder(letters: string, candidate: string): boolean {
  let place = -1;
  for (const letter of letters) {
    place = candidate.indexOf(letter, place + 1);
    if (place === -1) return false;
  }
  return true;
}
