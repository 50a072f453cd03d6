/**
 * `npm start`: serves this repository's documentation over MCP. Installs and builds only what that needs.
 * PORT (3000) and HOST (127.0.0.1) say where it listens.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { build, install, ROOT } from './workspace.js';

const EXAMPLE = 'examples/docs';

await install('@decorum/example-docs');
await build(EXAMPLE);

// In this very process: signals reach the server, and its exit code is ours.
const main = join(ROOT, EXAMPLE, 'dist/main.js');
process.argv[1] = main;
await import(pathToFileURL(main).href);
