/**
 * `npm run -s decorum -- ARGS` and `npm run -s create-decorum -- ARGS`: runs a built program of this workspace in the
 * folder where npm was called. It runs in this process, so that signals reach it and npm gets its exit code.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ROOT } from './workspace.js';

const [folder = ''] = process.argv.splice(2, 1);
const main = join(ROOT, 'packages', folder, 'dist/main.js');
process.chdir(process.env['INIT_CWD'] ?? '.');
process.argv[1] = main;
await import(pathToFileURL(main).href);
