/** What newcomers type into the search, and the page that must be among the first results. */
const QUESTIONS = /** @type {const} */ ([
  ['environment variables', '/operate/production/#environment-variables'],
  ['port', '/reference/cli/'],
  ['cors', '/reference/http/#cors'],
  ['claude desktop', '/start/connect/'],
  ['authentication', '/security/authorization/'],
  ['database', '/guides/database/'],
  ['logging', '/operate/production/#logging'],
  ['deploy', '/start/deploy/'],
  ['error 421', '/operate/troubleshooting/'],
  ['streaming', '/guides/handlers/'],
  ['docker', '/operate/docker/'],
  ['upload file', '/guides/uploads-and-files/'],
  ['zod', '/guides/schemas/'],
  ['timeout', '/guides/policies/#time-limits'],
  ['api key', '/security/authorization/#api-keys'],
]);

/** As many results as a screen shows. */
const FIRST = 6;

/**
 * Questions to which the search doesn't find the page.
 * @param {import('playwright-core').Page} page the front page
 */
export async function questionProblems(page) {
  await page.getByRole('button', { name: 'Search' }).click();
  /** @type {string[]} */
  const problems = [];
  for (const [question, path] of QUESTIONS) {
    await page.locator('#localsearch-input').fill(question);
    const found = `[...document.querySelectorAll('.results .result')].slice(0, ${FIRST}).some((each) => each.href.includes('${path}'))`;
    // the results follow a moment after the text
    await page.waitForFunction(found, undefined, { timeout: 30_000 }).catch(() => {
      problems.push(`search: "${question}" doesn't find ${path}`);
    });
  }
  return problems;
}
