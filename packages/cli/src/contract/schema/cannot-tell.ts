/** Thrown where schemas can't be compared. The message says why, as in "…, so the two can't be compared". */
export class CannotTell extends Error {}

/** Thrown when a comparison takes too many steps. It ends the comparison of the whole schema. */
export class TooComplex extends CannotTell {
  constructor() {
    super('it has too many alternatives');
  }
}
