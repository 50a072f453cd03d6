import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder `docs/`. */
export const DOCS = dirname(dirname(fileURLToPath(import.meta.url)));

/** The root of the repository. */
export const ROOT = dirname(DOCS);

/** Where `npm run docs` puts one page for each entry of the packages. Git ignores it. */
export const PACKAGES = 'reference/packages';

const manifestOf = (folder: string): { version?: string; repository?: string | { url: string } } =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));

/** The version that the pages describe. */
export const VERSION: string = manifestOf('packages/core').version ?? '';

/**
 * Where the repository can be read, such as `https://github.com/owner/name`; undefined while package.json names none. Then
 * pages have no edit link, and links to files outside of `docs/` are shown as text.
 */
export const REPOSITORY: string | undefined = repositoryUrl();

function repositoryUrl(): string | undefined {
  const { repository } = manifestOf('.');
  const url = typeof repository === 'string' ? repository : repository?.url;
  return url?.replace(/^git\+/, '').replace(/\.git$/, '');
}

/** The path of a page on the site: `guides/tasks.md` is at `/guides/tasks/`, which every static host can serve. */
export function urlOf(page: string): string {
  const path = page.replace(/\.md$/, '').replace(/(^|\/)index$/, '$1');
  return path === '' || path.endsWith('/') ? `/${path}` : `/${path}/`;
}

/** The Markdown of a page in `docs/`. */
export const markdownOf = (page: string): string => readFileSync(join(DOCS, page), 'utf8');

/** The first heading of a page, without code marks. */
export function titleOf(page: string): string {
  return /^# (.+)$/m.exec(markdownOf(page))?.[1]?.replaceAll('`', '') ?? page;
}

/** The pages of the packages that were generated, in order; none before the first `npm run docs`. */
export function packagePages(): string[] {
  const folder = join(DOCS, PACKAGES);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'index.md');
  return names.map((name) => `${PACKAGES}/${name}`).sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
}
