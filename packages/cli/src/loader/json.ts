import { readFileSync } from 'node:fs';

/** The value in a file of JSON. Like Node.js and npm, ignores a byte order mark, which some editors and shells write. */
export const parseFile = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
