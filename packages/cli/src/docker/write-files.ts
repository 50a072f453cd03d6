import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { CommandFailure } from 'create-decorum';

import type { Built } from '../build/build.js';
import { shown } from '../entry.js';
import { DOCKERIGNORE, dockerfileOf, type ImageOptions } from './dockerfile.js';

/** How to write the files of an image. */
export interface DockerOptions extends ImageOptions {
  readonly server: Built['server'];
  /** Whether to replace files that are different. */
  readonly force: boolean;
}

/**
 * Writes `Dockerfile` and `.dockerignore` into a project.
 * @returns the names of the files that were written
 * @throws {CommandFailure} if the program doesn't serve, or a file exists and is different
 */
export function writeDockerFiles({ server, force, ...image }: DockerOptions): readonly string[] {
  if (server?.exported !== undefined) {
    const problem = `${shown(image.file)} exports its server but doesn't serve it, and an image has no \`decorum start\`.`;
    throw new CommandFailure(`${problem} Serve it in the program: \`await listen(server, …)\` of @decorum/http.`);
  }
  const files = Object.entries({ Dockerfile: dockerfileOf(image), '.dockerignore': DOCKERIGNORE });
  const changed = files.filter(([name, text]) => textOf(join(image.project, name)) !== text);
  const lost = changed.map(([name]) => name).filter((name) => existsSync(join(image.project, name)));
  if (lost.length > 0 && !force) {
    const problem = `${lost.join(' and ')} would be replaced, and nothing was written.`;
    throw new CommandFailure(`${problem} Pass --force to replace, or delete what you don't need.`);
  }
  for (const [name, text] of changed) writeFileSync(join(image.project, name), text);
  return changed.map(([name]) => name);
}

const textOf = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
