import { BEGINNING, type ChainEnd, isTorn, macOf, NO_BYTES, readLine, type SignedLine } from '../audit/chain.js';
import type { AuditKey } from '../audit/keys.js';
import type { Piece, AuditPlace } from './read-lines.js';

/**
 * What is wrong with a line:
 *
 * - `changed`: it was changed, or lines before it were removed
 * - `inserted`: it was inserted here, or moved from elsewhere
 * - `restarted`: a new chain begins with it, so lines before it may have been removed
 * - `older-key`: it has the key of earlier lines, although lines before it have a newer one
 * - `missing`: the log ends here, and doesn't have the MAC that was seen
 */
export type AuditProblem = 'changed' | 'inserted' | 'restarted' | 'older-key' | 'missing';

/** A line that is not as it was written, or not where. */
export interface AuditFinding extends AuditPlace {
  readonly problem: AuditProblem;
}

/** What a log has. */
export interface AuditReport {
  /** Number of whole lines. */
  readonly lines: number;
  /** Lines that fit none of the keys, whatever stands before them. With a wrong key, that is each of them. */
  readonly foreign: number;
  /** The first 1,000 lines that are not as they were written. Empty if all is well. */
  readonly findings: readonly AuditFinding[];
  /** Lines that a process has never finished, for example because it was killed. */
  readonly torn: readonly AuditPlace[];
  /** The MAC of the last line. Undefined if there is no line. */
  readonly last: string | undefined;
}

const MAX_FINDINGS = 1000;

/** Pieces in a row that are no lines. More would only fill the memory. */
const MAX_LOOSE = 100_000;

const LINE_FEED = Buffer.from('\n');

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A line that didn't fit, and what it should have continued. */
interface Suspect {
  readonly finding: Mutable<AuditFinding>;
  readonly before: ChainEnd;
}

/** Checks one line after the other. */
export class Verifier {
  private readonly findings: Mutable<AuditFinding>[] = [];
  private readonly torn: AuditPlace[] = [];
  /** Pieces behind the last whole line. */
  private loose: Piece[] = [];
  private suspect: Suspect | undefined;
  private lines = 0;
  private foreign = 0;
  private last: string | undefined;
  private at: AuditPlace | undefined;
  private hasSeen: boolean;
  /** The newest key so far. */
  private newest: number;
  /** The keys, the last one that fitted first. */
  private likely: readonly AuditKey[];

  /**
   * @param keys those that may have signed, the newest first
   * @param seen a MAC that must be there
   */
  constructor(
    private readonly keys: readonly AuditKey[],
    private mac: string,
    private readonly seen: string | undefined,
  ) {
    this.hasSeen = seen === undefined || seen === mac;
    this.newest = keys.length;
    this.likely = keys;
  }

  take(piece: Piece): void {
    this.at = { file: piece.file, line: piece.line };
    const line = readLine(piece.bytes);
    if (line === undefined) {
      if (this.loose.push(piece) > MAX_LOOSE)
        throw new Error(
          `${piece.file}:${piece.line} is no line of an audit log, and neither are ${MAX_LOOSE} before it.`,
        );
      return;
    }
    this.lines += 1;
    this.place(line, this.at);
    this.mac = line.mac;
    this.last = line.mac;
    this.hasSeen ||= line.mac === this.seen;
    this.loose = [];
  }

  /** @param place where the log ends, if it is empty */
  end(place: AuditPlace): AuditReport {
    for (const piece of this.loose) {
      if (!piece.isEnded && isTorn(piece.bytes)) this.torn.push(placeOf(piece));
      else this.find('changed', piece);
    }
    if (!this.hasSeen) this.find('missing', this.at ?? place);
    const { lines, foreign, findings, torn, last } = this;
    return { lines, foreign, findings, torn, last };
  }

  /** Says how a line follows what was read so far. */
  private place(line: SignedLine, at: AuditPlace): void {
    const { suspect, loose } = this;
    const before: ChainEnd = { mac: this.mac, rest: bytesOf(loose) };
    this.suspect = undefined;
    if (this.fits(line, before)) {
      this.accept(loose);
      this.requireKey(at);
    } else if (loose.length > 0 && this.fits(line, { mac: this.mac, rest: NO_BYTES })) this.findAll('inserted', loose);
    else if (suspect !== undefined && this.fits(line, suspect.before)) suspect.finding.problem = 'inserted';
    else if (this.fits(line, BEGINNING)) this.find('restarted', at);
    else {
      this.foreign += 1;
      this.findAll('changed', loose);
      if (loose.length > 0) return;
      const finding = this.find('changed', at);
      this.suspect = { finding, before };
    }
  }

  /** Pieces that the chain covers were there when the next line was written. */
  private accept(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (isTorn(piece.bytes)) this.torn.push(placeOf(piece));
      else this.find('inserted', piece);
    }
  }

  private fits({ signed, mac }: SignedLine, end: ChainEnd): boolean {
    const key = this.likely.find((each) => macOf(each, end, signed) === mac);
    if (key === undefined) return false;
    // most likely it has signed the next one too
    if (key !== this.likely[0]) this.likely = [key, ...this.likely.filter((each) => each !== key)];
    return true;
  }

  /** An old key may be known to others: that is why there is a new one. */
  private requireKey(at: AuditPlace): void {
    const key = this.keys.indexOf(this.likely[0] as AuditKey);
    if (key > this.newest) this.find('older-key', at);
    else this.newest = key;
  }

  private findAll(problem: AuditProblem, places: readonly AuditPlace[]): void {
    for (const place of places) this.find(problem, place);
  }

  private find(problem: AuditProblem, place: AuditPlace): Mutable<AuditFinding> {
    const finding = { ...placeOf(place), problem };
    if (this.findings.length < MAX_FINDINGS) this.findings.push(finding);
    return finding;
  }
}

const placeOf = ({ file, line }: AuditPlace): AuditPlace => ({ file, line });

const bytesOf = (pieces: readonly Piece[]): Uint8Array =>
  pieces.length === 0
    ? NO_BYTES
    : Buffer.concat(pieces.flatMap(({ bytes, isEnded }) => (isEnded ? [bytes, LINE_FEED] : [bytes])));
