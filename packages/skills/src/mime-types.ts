/** MIME types by extension: what skills usually have. */
const TYPES: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  markdown: 'text/markdown',
  txt: 'text/plain',
  html: 'text/html',
  css: 'text/css',
  csv: 'text/csv',
  js: 'text/javascript',
  mjs: 'text/javascript',
  cjs: 'text/javascript',
  ts: 'text/typescript',
  py: 'text/x-python',
  sh: 'text/x-shellscript',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  toml: 'application/toml',
  xml: 'application/xml',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  zip: 'application/zip',
  gz: 'application/gzip',
  wasm: 'application/wasm',
  ttf: 'font/ttf',
  woff2: 'font/woff2',
};

const TEXTUAL = /^text\/|[/+](?:json|yaml|toml|xml)$/;

/** Bytes as text, without any change; undefined if they aren't UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    // keep a byte order mark: clients compare the text with the digest of the file
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The MIME type of a file, and its content: text if it is textual, otherwise bytes. */
export function typed(path: string, bytes: Uint8Array): { mimeType: string; content: string | Uint8Array } {
  const known = TYPES[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''];
  if (known !== undefined && !TEXTUAL.test(known)) return { mimeType: known, content: bytes };
  const text = bytes.includes(0) ? undefined : textOf(bytes);
  if (text === undefined) return { mimeType: 'application/octet-stream', content: bytes };
  return { mimeType: known ?? 'text/plain', content: text };
}
