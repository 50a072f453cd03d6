/**
 * `npm start`: serves this repository's documentation over MCP. It installs and builds only the necessary packages.
 * Set PORT (default 3000) and HOST (default 127.0.0.1) to listen elsewhere.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { build, install, ROOT } from './workspace.js';

const EXAMPLE = 'examples/docs';

await install('@decorum/example-docs');
await build(EXAMPLE);

// in this process, so that signals reach the server and npm gets its exit code
const main = join(ROOT, EXAMPLE, 'dist/main.js');
process.argv[1] = main;
await import(pathToFileURL(main).href);
