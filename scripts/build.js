/** `npm run build`: builds all packages without installing anything. Quick if nothing has changed. */
import { build } from './workspace.js';

await build();
