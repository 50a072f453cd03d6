/** Finds links of the built site that lead nowhere: pages, files, and headings. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** @type {Record<string, string>} */
const ENTITIES = { amp: '&', quot: '"', '#39': "'", lt: '<', gt: '>' };

/** @param {string} text */
const unescaped = (text) => text.replaceAll(/&(amp|quot|#39|lt|gt);/g, (_, name) => ENTITIES[name] ?? '');

/**
 * The values of an attribute.
 * @param {string} html
 * @param {string} name
 */
const attributes = (html, name) =>
  [...html.matchAll(new RegExp(`<[^>]*?\\s${name}="([^"]*)"`, 'g'))].map(([, value = '']) => unescaped(value));

/** A built site. */
class Site {
  #folder;
  #base;
  /** @type {Map<string, Set<string>>} */
  #anchors = new Map();

  /**
   * @param {string} folder
   * @param {string} base
   */
  constructor(folder, base) {
    this.#folder = folder;
    this.#base = base;
  }

  /** @param {string} end */
  files(end) {
    const files = readdirSync(this.#folder, { recursive: true, encoding: 'utf8' });
    return files.filter((file) => file.endsWith(end) && !file.startsWith('assets/'));
  }

  /** @param {string} file */
  read(file) {
    return readFileSync(join(this.#folder, file), 'utf8');
  }

  /**
   * What is wrong with a link, if anything is.
   * @param {string} file
   * @param {string} href
   */
  problemOf(file, href) {
    const { origin, pathname, hash } = new URL(href, `http://site${this.#base}${file}`);
    if (origin !== 'http://site') return undefined;
    if (!pathname.startsWith(this.#base)) return `${file}: ${href} is outside of the site`;
    const path = decodeURI(pathname.slice(this.#base.length));
    // as every static host does: a folder is its index.html, and nothing else is guessed
    const target = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    if (!this.#has(target)) return `${file}: ${href} leads nowhere`;
    const anchor = decodeURIComponent(hash.slice(1));
    const isMissing = anchor !== '' && target.endsWith('.html') && !this.#anchorsOf(target).has(anchor);
    return isMissing ? `${file}: ${href} names no heading` : undefined;
  }

  /** @param {string} file */
  #has(file) {
    const path = join(this.#folder, file);
    return existsSync(path) && statSync(path).isFile();
  }

  /** @param {string} file */
  #anchorsOf(file) {
    const anchors = this.#anchors.get(file) ?? new Set(attributes(this.read(file), 'id'));
    this.#anchors.set(file, anchors);
    return anchors;
  }
}

/**
 * Every dead link of the pages, of their Markdown, and of `llms.txt`.
 * @param {string} folder
 * @param {string} base
 * @returns {string[]}
 */
export function deadLinks(folder, base) {
  const site = new Site(folder, base);
  const pages = site.files('.html');
  const inPages = pages.flatMap((file) =>
    [...attributes(site.read(file), 'href'), ...attributes(site.read(file), 'src')].map((href) => ({ file, href })),
  );
  const inTexts = [...site.files('.md'), 'llms.txt'].flatMap((file) => {
    const prose = site
      .read(file)
      .replaceAll(/^ *```[^]*?^ *```/gm, '')
      .replaceAll(/`[^`\n]*`/g, '');
    return [...prose.matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)].map(([, href = '']) => ({ file, href }));
  });
  const problems = [...inPages, ...inTexts].flatMap(({ file, href }) => site.problemOf(file, href) ?? []);
  return [...new Set(problems)];
}
