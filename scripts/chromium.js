/** Finds and starts the Chromium of the system. playwright-core only drives it; nothing is downloaded. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/**
 * The path of a Chromium: `CHROMIUM`, or the first on the `PATH`.
 * @returns {string | undefined}
 */
export function findChromium() {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [process.env['CHROMIUM'] ?? [], ...paths].flat().find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Starts Chromium. All names that end with `.example` are this machine.
 * @param {string} executablePath
 */
export const startChromium = (executablePath) =>
  chromium.launch({ executablePath, args: ['--host-resolver-rules=MAP *.example 127.0.0.1'] });

/**
 * Signs in on the page that asks for it, and allows what the next page asks.
 * @param {import('playwright-core').Page} page
 * @param {{ username: string, password: string }} user
 */
export async function allowByClicking(page, { username, password }) {
  await page.getByLabel('User name').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
}
