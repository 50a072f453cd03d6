/** `npm run setup`: installs the locked dependencies and builds all packages. Quick if nothing has changed. */
import { build, install } from './workspace.js';

await install();
await build();
