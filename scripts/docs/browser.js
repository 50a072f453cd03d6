/** Looks at the built site in Chromium: requests, weight, width, accessibility, search and the copy button. */
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { startChromium } from '../chromium.js';
import { ROOT } from '../workspace.js';
import { questionProblems } from './questions.js';
import { serveFolder } from './static-host.js';

const AXE = createRequire(join(ROOT, 'docs/package.json')).resolve('axe-core/axe.min.js');
const MAX_FRONT_BYTES = 300_000;

const PAGES = {
  front: '',
  guide: 'guides/handlers/',
  reference: 'reference/mcp-server/',
  package: 'reference/packages/http/',
};
const VIEWS = [360, 1280].flatMap((width) =>
  /** @type {const} */ (['light', 'dark']).map((colorScheme) => ({ width, colorScheme })),
);

/**
 * @typedef {object} Looking
 * @property {import('playwright-core').Page} page
 * @property {string} url of the front page
 * @property {string} where what the problems are about
 * @property {(name: string) => Promise<unknown>} picture
 */

/**
 * Opens a page, and waits until its scripts run: before, buttons do nothing, and the switch of the theme has no name.
 * @param {import('playwright-core').Page} page
 * @param {string} url
 */
async function open(page, url) {
  await page.goto(url, { waitUntil: 'networkidle' });
  await page.locator('.VPSwitchAppearance:not([title=""])[title]').first().waitFor({ state: 'attached' });
}

/**
 * What is seriously wrong for people who use the page by keyboard, with a screen reader, or with little contrast.
 * @param {Looking} looking
 */
async function barriersOf({ page, where }) {
  await page.addScriptTag({ path: AXE });
  /** @type {{ id: string, impact: string, nodes: { html: string }[] }[]} */
  const violations = await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/**
 * How far the page is wider than the window.
 * @param {Looking} looking
 */
async function overflowOf({ page, where }) {
  const extra = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  return extra > 0 ? [`${where}: the page is ${extra} px too wide`] : [];
}

/** @param {Looking} looking */
async function searchProblems({ page, url, where, picture }) {
  const looking = { page, url, where: `${where}, search`, picture };
  await open(page, url);
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('#localsearch-input').fill('ask the user');
  await page.locator('.result').first().waitFor();
  await picture('search');
  return await barriersOf(looking);
}

/** @param {Looking} looking */
async function copyProblems({ page, url, where }) {
  await open(page, `${url}${PAGES.guide}`);
  await page.getByRole('button', { name: 'Copy as Markdown' }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  const text = String(await page.evaluate('navigator.clipboard.readText()'));
  return text.startsWith('# Handlers\n') ? [] : [`${where}: the button copies ${JSON.stringify(text.slice(0, 40))}`];
}

/** @param {Looking} looking */
async function pageProblems(looking) {
  const problems = [];
  for (const [name, path] of Object.entries(PAGES)) {
    await open(looking.page, `${looking.url}${path}`);
    await looking.picture(name);
    const here = { ...looking, where: `${looking.where}, ${path || 'front page'}` };
    problems.push(...(await overflowOf(here)), ...(await barriersOf(here)));
  }
  return problems;
}

/**
 * Everything that is wrong with the site, seen at one width, in one color scheme.
 * @param {import('playwright-core').Browser} browser
 * @param {{ origin: string, base: string, pictures: string | undefined, view: typeof VIEWS[number] }} site
 */
async function problemsOf(browser, { origin, base, pictures, view: { width, colorScheme } }) {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const where = `${width} px, ${colorScheme}`;
  /** @type {string[]} */
  const problems = [];
  const page = await context.newPage();
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(`${origin}${base}`)) {
      problems.push(`${where}: a request to ${request.url()}`);
    }
  });
  page.on('pageerror', (error) => problems.push(`${where}: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`${where}: ${message.text()}`);
  });
  const picture = async (/** @type {string} */ name) =>
    pictures && (await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`) }));
  const looking = { page, url: `${origin}${base}`, where, picture };
  problems.push(...(await pageProblems(looking)), ...(await searchProblems(looking)), ...(await copyProblems(looking)));
  await context.close();
  return problems;
}

/**
 * Everything that is wrong with the site in a browser, and what the front page weighs.
 * @param {string} executable of Chromium
 * @param {{ folder: string, base: string, pictures: string | undefined }} site
 */
export async function lookAt(executable, { folder, base, pictures }) {
  const host = await serveFolder(folder, base);
  const browser = await startChromium(executable);
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await open(page, `${host.origin}${base}`);
    const weight = host.sent();
    const questions = await questionProblems(page);
    await page.close();
    const tooHeavy =
      weight > MAX_FRONT_BYTES ? [`the front page weighs ${weight} bytes, more than ${MAX_FRONT_BYTES}`] : [];
    const problems = [...tooHeavy, ...questions];
    for (const view of VIEWS)
      problems.push(...(await problemsOf(browser, { origin: host.origin, base, pictures, view })));
    return { weight, problems: [...new Set(problems)] };
  } finally {
    await browser.close();
    host.close();
  }
}
