/** A browser for tests and scripts: it follows redirects, keeps cookies, and fills forms, all by `fetch`. */

/** @typedef {{ action: string, fields: URLSearchParams, buttons: Map<string, [name: string, value: string] | undefined> }} Form */

/** @param {string} text */
const plain = (text) =>
  text
    .replace(/<[^>]*>/g, '')
    .replaceAll('&amp;', '&')
    .trim();

/**
 * The form of a page. Throws if there is none.
 * @param {string} page
 * @returns {Form}
 */
export function formOf(page) {
  const [, action, content] = /<form[^>]* action="([^"]+)"[^>]*>(.*?)<\/form>/s.exec(page) ?? [];
  if (action === undefined || content === undefined) throw new Error(`The page has no form:\n${page}`);
  /** @type {(tag: string, name: string) => string | undefined} */
  const attribute = (tag, name) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
  const fields = new URLSearchParams();
  for (const [input] of content.matchAll(/<input[^>]*>/g)) {
    const name = attribute(input, 'name');
    if (name !== undefined && attribute(input, 'type') !== 'checkbox')
      fields.set(name, attribute(input, 'value') ?? '');
  }
  const buttons = new Map();
  for (const [, tag = '', label = ''] of content.matchAll(/<button([^>]*)>(.*?)<\/button>/gs)) {
    const name = attribute(tag, 'name');
    buttons.set(plain(label), name === undefined ? undefined : [name, attribute(tag, 'value') ?? '']);
  }
  return { action, fields, buttons };
}

/** One browser with its cookies. */
export class FormBrowser {
  /** Cookies by host, then by name. */
  cookies = new Map();
  /** The URL of the page that is open. */
  url = new URL('about:blank');
  /** The page that is open: its status and HTML. */
  status = 0;
  page = '';

  /** @param {string} callback where a visit ends: the beginning of a redirect URI, which isn't opened */
  constructor(callback) {
    this.callback = callback;
  }

  /**
   * Opens a URL, and follows its redirects.
   * @param {URL | string} url
   * @param {RequestInit} [init]
   * @returns {Promise<URL | undefined>} the URL with the answer for the client; undefined if a page is shown
   */
  async open(url, init = {}) {
    this.url = new URL(url);
    /** @type {RequestInit} */
    let next = init;
    for (let hop = 0; hop < 20; hop++) {
      const response = await fetch(this.url, {
        redirect: 'manual',
        ...next,
        headers: { cookie: this.#cookieHeader(), 'sec-fetch-site': hop === 0 ? 'none' : 'same-origin' },
      });
      this.#keep(response);
      const location = response.headers.get('location');
      this.status = response.status;
      this.page = await response.text();
      if (location === null) return undefined;
      this.url = new URL(location, this.url);
      if (this.url.href.startsWith(this.callback)) return this.url;
      next = {};
    }
    throw new Error('The server redirects endlessly.');
  }

  /**
   * Fills the form of the page, and presses a button.
   * @param {string} label of the button
   * @param {Readonly<Record<string, string>>} [values] by the names of fields
   * @returns {Promise<URL | undefined>} as of `open`
   */
  async press(label, values = {}) {
    const { action, fields, buttons } = formOf(this.page);
    if (!buttons.has(label)) throw new Error(`The page has no button "${label}":\n${this.page}`);
    for (const [name, value] of Object.entries(values)) fields.set(name, value);
    const pressed = buttons.get(label);
    if (pressed !== undefined) fields.set(...pressed);
    return await this.open(new URL(action, this.url), { method: 'POST', body: fields });
  }

  /**
   * Opens an authorization request, signs in where the server asks for it, and allows what it asks.
   * @param {URL | string} url
   * @param {{ username: string, password: string }} user
   * @returns {Promise<URL>} the URL with the answer for the client
   */
  async allow(url, user) {
    let answer = await this.open(url);
    if (answer === undefined && this.page.includes('name="password"')) answer = await this.press('Sign in', user);
    answer ??= await this.press('Allow');
    if (answer === undefined) throw new Error(`The server answered ${this.status}:\n${this.page}`);
    return answer;
  }

  #cookieHeader() {
    return [...(this.cookies.get(this.url.host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** @param {Response} response */
  #keep(response) {
    const kept = this.cookies.get(this.url.host) ?? new Map();
    this.cookies.set(this.url.host, kept);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') kept.delete(name);
      else kept.set(name, value);
    }
  }
}
