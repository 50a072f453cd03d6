/** `npm run setup`: installs what the lockfile says and builds every package. Quick when nothing has changed. */
import { build, install } from './workspace.js';

await install();
await build();
