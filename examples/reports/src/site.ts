import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import type { YearData } from './sales.js';

/** A site in a folder. */
export class Site {
  /** @param folder created with the first page */
  constructor(private readonly folder: string) {}

  /**
   * Publishes a report.
   * @param idempotencyKey a page with the same key is replaced, so publishing twice is harmless
   * @returns the URL of the page
   */
  async publish(
    { year, rows, total }: YearData,
    { idempotencyKey }: { readonly idempotencyKey: string },
  ): Promise<string> {
    await mkdir(this.folder, { recursive: true });
    const file = join(this.folder, `${year}-${idempotencyKey.slice(0, 12)}.md`);
    await writeFile(file, `# ${year}\n\n${rows} sales, ${total} € in total\n`);
    return pathToFileURL(file).href;
  }
}
