import { createHash } from 'node:crypto';

import { STYLE } from './style.js';

const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  // no `form-action`: Chromium would apply it to the redirect to the client after the form
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  // for browsers without `frame-ancestors`
  'x-frame-options': 'DENY',
};

/** The headers that each page needs. */
export const pageHeaders = (): Record<string, string> => ({ ...HEADERS });
