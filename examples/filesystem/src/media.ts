import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { Media } from './dto.js';

const MIME_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.svg': 'image/svg+xml',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.flac': 'audio/flac',
};

/** A content block for the bytes of a file: an image or audio, depending on the extension, otherwise a resource. */
export function mediaBlock(path: string, bytes: Buffer): Media['content'][number] {
  const mimeType = MIME_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
  const data = bytes.toString('base64');
  if (mimeType.startsWith('image/')) return { type: 'image', data, mimeType };
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType };
  return { type: 'resource', resource: { uri: pathToFileURL(path).href, mimeType, blob: data } };
}
