import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, sep } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import { shown } from '../entry.js';
import type { Media } from './answer.js';

/** Attempts to find a name that no file has. */
const MAX_TRIES = 1000;

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpg',
  'image/svg+xml': '.svg',
  'audio/mpeg': '.mp3',
  'audio/x-wav': '.wav',
  'text/plain': '.txt',
  'application/octet-stream': '.bin',
};

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Saves images, audio and bytes. An existing file is never overwritten.
 * @param to a folder, or a file for a single one
 * @returns the files
 * @throws {CommandFailure}
 */
export function saveMedia(media: readonly Media[], to: string): readonly string[] {
  if (isFolder(to) || /[\\/]$/.test(to)) {
    mkdirSync(to, { recursive: true });
    return media.map((each) => saveIn(to, each));
  }
  const [only, ...more] = media;
  if (only === undefined) return [];
  if (more.length > 0) {
    throw new CommandFailure(`There are ${media.length} files to save: pass a folder, --save ${to}${sep}.`, EXIT.usage);
  }
  if (write(to, only)) return [shown(to)];
  throw new CommandFailure(`${to} exists already, and was not overwritten.`);
}

function saveIn(folder: string, media: Media): string {
  const { stem, extension } = nameOf(media);
  for (let count = 1; count <= MAX_TRIES; count++) {
    const file = join(folder, `${stem}${count === 1 ? '' : `-${count}`}${extension}`);
    if (write(file, media)) return shown(file);
  }
  throw new CommandFailure(`${folder} has too many files called ${stem}${extension}.`);
}

/** Writes a new file. Returns false if there is one. */
function write(file: string, { data }: Media): boolean {
  try {
    writeFileSync(file, Buffer.from(data, 'base64'), { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new CommandFailure(`${file} can't be written: ${(error as Error).message}.`, EXIT.environment, error);
  }
}

/** A name without folders, leading dots, and names that systems reserve. The server has chosen the URI. */
function nameOf({ uri = '', mimeType }: Media): { readonly stem: string; readonly extension: string } {
  const last = basename(uri.replace(/[?#].*$/s, '').replaceAll('\\', '/'));
  const safe = last
    .replaceAll(/[^\w.-]+/g, '_')
    .replace(/^[.-]+/, '')
    .slice(-80);
  const [, stem = '', extension = ''] = /^(.*?)(\.\w{1,8})?$/.exec(safe) ?? [];
  const [kind = '', subtype = ''] = mimeType.split(/[/;]/).map((each) => each.replaceAll(/\W+/g, ''));
  const isUsable = stem !== '' && !/^(?:con|prn|aux|nul|com\d|lpt\d)$/i.test(stem.split('.')[0] ?? '');
  return {
    stem: isUsable ? stem : kind || 'file',
    extension: extension || (EXTENSIONS[mimeType] ?? `.${subtype.slice(0, 8) || 'bin'}`),
  };
}
