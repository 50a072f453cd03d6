/** Signs in and allows without a browser, where there is none: follows redirects, keeps cookies, and sends forms. */

/** Keeps the cookies of one origin. */
class Cookies {
  /** @type {Map<string, string>} */
  values = new Map();

  /** @param {Response} response */
  keep(response) {
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.values.set(name, value);
    }
  }

  toString() {
    return [...this.values].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}

/**
 * The form of a page, filled in.
 * @param {string} page
 * @param {{ username: string, password: string }} user
 */
function fill(page, { username, password }) {
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1];
  if (action === undefined || csrf === undefined) throw new Error(`The page has no form:\n${page}`);
  const answers = page.includes('name="password"') ? { username, password } : { decision: 'allow' };
  return { action, body: new URLSearchParams({ csrf, ...answers }) };
}

/**
 * Opens an authorization request, signs in, and allows what it asks.
 * @param {string} url
 * @param {string} callback the redirect URI of the client
 * @param {{ username: string, password: string }} user
 * @returns {Promise<string>} the URL with the answer for the client
 */
export async function allowByForms(url, callback, user) {
  const cookies = new Cookies();
  let next = url;
  /** @type {RequestInit} */
  let init = {};
  for (let hop = 0; hop < 20; hop++) {
    const response = await fetch(next, { ...init, redirect: 'manual', headers: { cookie: `${cookies}` } });
    cookies.keep(response);
    const location = response.headers.get('location');
    if (location === null) {
      const { action, body } = fill(await response.text(), user);
      next = new URL(action, next).href;
      init = { method: 'POST', body };
      continue;
    }
    next = new URL(location, next).href;
    init = {};
    if (next.startsWith(`${callback}?`)) return next;
  }
  throw new Error('The server redirects endlessly.');
}
