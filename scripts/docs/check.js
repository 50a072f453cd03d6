/** `npm run docs -- --check`: what the built site must be. */
import { findChromium } from '../chromium.js';
import { lookAt } from './browser.js';
import { deadLinks } from './links.js';

/**
 * Prints what is wrong with the site.
 * @param {{ folder: string, base: string, pictures: string | undefined }} site
 * @returns {Promise<boolean>} whether nothing is wrong
 */
export async function checkSite(site) {
  const problems = deadLinks(site.folder, site.base);
  const chromium = findChromium();
  if (chromium === undefined) {
    console.log('No Chromium was found, so nobody has looked at the pages. Install one, or set CHROMIUM.');
  } else {
    const seen = await lookAt(chromium, site);
    console.log(`The front page weighs ${(seen.weight / 1000).toFixed(0)} kB, compressed.`);
    problems.push(...seen.problems);
  }
  for (const problem of problems) console.log(problem);
  console.log(problems.length === 0 ? 'The site is in order.' : `The site has ${problems.length} problems.`);
  return problems.length === 0;
}
