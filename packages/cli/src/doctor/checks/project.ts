import { dirname, join } from 'node:path';

import { closest } from '../../entry.js';
import { isFile } from '../../loader/resolve.js';
import { dependenciesOf, type Place, shownFolder } from '../place.js';
import { type Result, resultsOf } from '../result.js';

const results = resultsOf('project');

const isDecorum = (name: string): boolean => name.startsWith('@decorum/');

/** Checks that there is a package with Decorum in it. */
export function checkProject({ root, manifest }: Place): Result[] {
  if (manifest === undefined) {
    const file = join(root, 'package.json');
    return isFile(file)
      ? [results.problem(`${shownFolder(file)} is not valid JSON`, 'correct it')]
      : [
          results.problem(
            'there is no package.json here or above',
            'run `npm create decorum@latest`, or go to the project',
          ),
        ];
  }
  const names = Object.keys(dependenciesOf(manifest)).filter(isDecorum);
  if (names.length > 0) return [results.ok(`${manifest.name ?? shownFolder(root)} with ${names.sort().join(', ')}`)];
  if (manifest.workspaces !== undefined || isFile(join(root, 'pnpm-workspace.yaml')))
    return [
      results.warning('this is the root of a workspace, without Decorum', 'run the command in the folder of a package'),
    ];
  const above = closest(dirname(root), 'package.json');
  if (above !== undefined && isUsedIn(above))
    return [results.ok(`${manifest.name ?? shownFolder(root)}, in a workspace`)];
  return [results.problem('package.json names no package of Decorum', 'run `npm install @decorum/core`')];
}

const isUsedIn = (folder: string): boolean => isFile(join(folder, 'node_modules/@decorum/core/package.json'));
