/** Shorter secrets are not looked for in encodings that could be a part of anything. */
const MIN_ENCODED = 8;

const asJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const inUrl = (text: string): string => encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '\uFFFD'));
const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

type Write = (text: string) => string;

/** How secrets may be written. */
const WRITINGS: readonly Write[] = [
  (text) => text,
  asJson,
  (text) => asJson(asJson(text)),
  // as PHP and Python write JSON
  (text) => asJson(text).replaceAll('/', '\\/'),
  (text) => asJson(text).replaceAll(/[^\0-\x7F]/g, escaped),
  inUrl,
  (text) => inUrl(text).replaceAll('%20', '+'),
  (text) => inUrl(text).replaceAll(/%../g, (code) => code.toLowerCase()),
  (text) => inUrl(inUrl(text)),
  (text) => text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] as string),
];

/** How longer secrets may be written, besides. */
const ENCODINGS: readonly Write[] = [
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) => Buffer.from(text).toString('hex'),
  (text) => Buffer.from(text).toString('hex').toUpperCase(),
];

/** How a secret may be written in texts. */
export const writingsOf = (secret: string): readonly Write[] =>
  secret.length < MIN_ENCODED ? WRITINGS : [...WRITINGS, ...ENCODINGS];

/** What is the same in the Base64 of all texts that have a secret, by the place of its first byte. */
export function inBase64(secret: string): readonly string[] {
  if (secret.length < MIN_ENCODED) return [];
  const bytes = Buffer.from(secret);
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // characters that have bits of what is around the secret
    const end = ((before + bytes.length) * 8) % 6 === 0 ? encoded.length : encoded.length - 1;
    return encoded.slice(Math.ceil((before * 8) / 6), end);
  });
}
