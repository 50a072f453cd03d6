/** `npm run build`: builds every package, without installing anything. Quick when nothing has changed. */
import { build } from './workspace.js';

await build();
