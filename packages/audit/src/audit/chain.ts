import { type AuditKey, keyedDigest } from './keys.js';

/** The MAC before the first line of a chain. */
export const NO_MAC = '';

/** Bytes between two lines that belong to no line. */
export const NO_BYTES: Uint8Array = new Uint8Array();

/** What every line begins with. */
const BEGIN = '{"at":"';

const BEFORE_MAC = ',"mac":"';
const AFTER_MAC = '"}';
const MAC_CHARS = 43;

/** Characters of a line after its signed part. */
const END_CHARS = BEFORE_MAC.length + MAC_CHARS + AFTER_MAC.length;

const MAC = /^[\w-]{43}$/;

/** Whether a string may be a MAC. */
export const isMac = (text: string): boolean => MAC.test(text);

/** Where a chain ends. */
export interface ChainEnd {
  /** The MAC of the last line. */
  readonly mac: string;
  /** What stands behind that line: the beginning of a line that was never finished. */
  readonly rest: Uint8Array;
}

/** The end of a chain that has not begun. */
export const BEGINNING: ChainEnd = { mac: NO_MAC, rest: NO_BYTES };

/** The MAC of a line: of the line before, of all bytes between the two, and of the other fields of the line. */
export const macOf = (key: AuditKey, { mac, rest }: ChainEnd, signed: string | Uint8Array): string =>
  rest.length === 0 ? keyedDigest(key.chain, mac, signed) : keyedDigest(key.chain, mac, rest, signed);

/** Signs lines. */
export class Chain {
  /** @param end where the chain goes on */
  constructor(
    private readonly key: AuditKey,
    private end: ChainEnd,
  ) {}

  /** Completes a line. */
  sign(fields: string): string {
    const mac = macOf(this.key, this.end, fields);
    this.end = { mac, rest: NO_BYTES };
    return `${fields}${BEFORE_MAC}${mac}${AFTER_MAC}`;
  }
}

/** A line, as it was read. */
export interface SignedLine {
  readonly signed: Uint8Array;
  readonly mac: string;
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Reads a line; undefined if the bytes are none, for example because the process died while it wrote. */
export function readLine(bytes: Buffer): SignedLine | undefined {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - END_CHARS));
  const mac = end.slice(BEFORE_MAC.length, -AFTER_MAC.length);
  if (end !== `${BEFORE_MAC}${mac}${AFTER_MAC}` || !isMac(mac)) return undefined;
  // what a line begins with is never JSON, but may end like a line
  if (!isJson(bytes)) return undefined;
  return { signed: bytes.subarray(0, -END_CHARS), mac };
}

/** Whether bytes have a whole line and something behind it, so they are not the beginning of a line. */
const exceedsLine = (bytes: Buffer): boolean => {
  const at = bytes.lastIndexOf(BEFORE_MAC);
  return at !== -1 && bytes.length - at >= END_CHARS;
};

/** Whether bytes may be a line that was never finished. Somebody has written what says more than the beginning of one. */
export const isTorn = (bytes: Buffer): boolean =>
  bytes.length > 0 && isBeginning(bytes) && !exceedsLine(bytes) && !isJson(bytes);

/** Whether bytes may be the beginning of a line. */
export function isBeginning(bytes: Uint8Array): boolean {
  const begin = Buffer.from(bytes.subarray(0, BEGIN.length)).toString('latin1');
  return begin === BEGIN.slice(0, begin.length);
}
