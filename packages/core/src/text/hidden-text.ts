// Each pattern runs in linear time, because a repetition ends before the next position where a match could start.

/**
 * Invisible characters (UAX 44, `Default_Ignorable_Code_Point`) and interlinear annotation characters. Soft hyphens,
 * joiners, directional marks and variation selectors are left to `RUN`. Mongolian and ideographic selectors are kept
 * after the characters that they modify.
 */
const INVISIBLE =
  // oxlint-disable-next-line no-misleading-character-class -- matched on purpose
  /(?![\u00AD\u061C\u200C-\u200F\uFE00-\uFE0F])(?<![\u1820-\u18AA](?=[\u180B-\u180D\u180F])|\p{Ideographic}(?=[\u{E0100}-\u{E01EF}]))[\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/gu;

/** Escape sequences (ECMA-48): strings with their terminator, CSI sequences, and short sequences. */
const ESCAPE_SEQUENCE =
  // oxlint-disable-next-line no-control-regex -- matched on purpose
  /(?:\u001B[P\]X^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u0080-\u009F]*(?:\u0007|\u001B\\|\u009C)|(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]|\u001B[ -/]*[0-~]/g;

/** C0 control characters (except tab, LF and CR), DEL and C1. */
// oxlint-disable-next-line no-control-regex -- matched on purpose
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g;

/**
 * Runs of soft hyphens, joiners, directional marks and variation selectors. One alone, or a selector next to a joiner,
 * is common in scripts and emoji; a run can only hide data.
 */
const RUN =
  // oxlint-disable-next-line no-misleading-character-class -- matched on purpose
  /[\u00AD\u061C\u200C-\u200F\uFE00-\uFE0F]{3,}|[\u00AD\u061C\u200C-\u200F]{2,}|[\uFE00-\uFE0F]{2,}/g;

/** Shows control characters and invisible characters by their numbers. Those of escape sequences are among them. */
export function withHiddenShown(text: string): string {
  const shown = (found: string) => Array.from(found, numberOf).join('');
  return text.replace(INVISIBLE, shown).replace(CONTROL, shown).replace(RUN, shown);
}

const numberOf = (character: string): string =>
  `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

/** Removes control characters, escape sequences and invisible characters. */
export function withoutHidden(text: string): string {
  return text.replace(INVISIBLE, '').replace(ESCAPE_SEQUENCE, '').replace(CONTROL, '').replace(RUN, '');
}
