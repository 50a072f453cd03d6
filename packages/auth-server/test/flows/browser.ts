const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

const textOf = (html: string): string =>
  html.replaceAll(/<[^>]*>/g, '').replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] as string);

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : textOf(value);
};

/** What a browser shows, or where it was sent. */
export class Page {
  constructor(
    readonly url: string,
    readonly status: number,
    readonly headers: Headers,
    readonly html: string,
  ) {}

  /** The text, with one space between words. */
  get text(): string {
    return textOf(this.html.replace(/<style>.*<\/style>/s, '').replaceAll('>', '> ')).replaceAll(/\s+/g, ' ');
  }

  /** Where the browser was sent, out of the origin. */
  get redirect(): URL {
    const location = this.headers.get('location');
    if (location === null) throw new Error(`No redirect, but status ${this.status}: ${this.text}`);
    return new URL(location, this.url);
  }

  /** The query of `redirect`. */
  get answer(): Record<string, string> {
    return Object.fromEntries(this.redirect.searchParams);
  }

  /** The fields that a form has before anybody fills it. */
  get hidden(): Record<string, string> {
    const tags = this.html.match(/<input type="hidden"[^>]*>/g) ?? [];
    return Object.fromEntries(tags.map((tag) => [attribute(tag, 'name'), attribute(tag, 'value') ?? '']));
  }

  /** Where the form goes. */
  get action(): string {
    const tag = /<form [^>]*>/.exec(this.html)?.[0];
    if (tag === undefined) throw new Error(`No form, but status ${this.status}: ${this.text}`);
    return new URL(attribute(tag, 'action') as string, this.url).href;
  }

  /** The names and values of the fields with these labels, and of the button. */
  fields(values: Readonly<Record<string, string>>, button: string): Record<string, string> {
    const filled = Object.entries(values).map(([label, value]) => [this.nameOf(label), value] as const);
    const pressed = [...this.html.matchAll(/(<button[^>]*>)(.*?)<\/button>/gs)].find(
      ([, , text = '']) => textOf(text).trim() === button,
    )?.[1];
    if (pressed === undefined) throw new Error(`No button "${button}": ${this.text}`);
    const name = attribute(pressed, 'name');
    return {
      ...this.hidden,
      ...Object.fromEntries(filled),
      ...(name !== undefined && { [name]: attribute(pressed, 'value') as string }),
    };
  }

  private nameOf(label: string): string {
    for (const [, tag = '', content = ''] of this.html.matchAll(/(<label[^>]*>)(.*?)<\/label>/gs)) {
      if (textOf(content).trim() !== label) continue;
      const id = attribute(tag, 'for');
      const inputs = id === undefined ? content : this.html;
      const input = (inputs.match(/<input[^>]*>/g) ?? []).find(
        (each) => id === undefined || attribute(each, 'id') === id,
      );
      if (input !== undefined) return attribute(input, 'name') as string;
    }
    throw new Error(`No field "${label}": ${this.text}`);
  }
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/** A request of a browser. */
export interface Visit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** What of a browser matters to sign in: cookies, redirects within an origin, and forms. */
export class Browser {
  /** All `Set-Cookie` headers so far. */
  readonly received: string[] = [];
  /** The paths of the redirects that were followed. */
  readonly followed: string[] = [];
  private readonly cookies = new Map<string, Cookie>();

  constructor(private readonly always: Readonly<Record<string, string>> = {}) {}

  /** Opens a URL, as from the address bar. */
  async open(url: string, visit: Visit = {}): Promise<Page> {
    return await this.follow(url, { ...visit, headers: { 'sec-fetch-site': 'none', ...visit.headers } });
  }

  /** Fills the form of a page by the labels of its fields, and presses a button. */
  async submit(page: Page, values: Readonly<Record<string, string>>, button: string): Promise<Page> {
    return await this.post(page.action, page.fields(values, button));
  }

  /** Sends the fields of a form. */
  async post(url: string, fields: Readonly<Record<string, string>>): Promise<Page> {
    const body = new URLSearchParams(fields).toString();
    return await this.follow(url, { method: 'POST', body, headers: { ...FORM, 'sec-fetch-site': 'same-origin' } });
  }

  private async follow(url: string, visit: Visit): Promise<Page> {
    let [next, sent] = [url, visit];
    for (let hops = 0; hops < 10; hops++) {
      const page = await this.request(next, sent);
      const location = page.headers.get('location');
      const target = location === null ? undefined : new URL(location, next);
      if (target === undefined || target.origin !== new URL(url).origin) return page;
      const { 'sec-fetch-site': site = '' } = visit.headers ?? {};
      [next, sent] = [target.href, { headers: { 'sec-fetch-site': site } }];
      this.followed.push(target.pathname);
    }
    throw new Error(`Too many redirects from ${url}`);
  }

  private async request(url: string, { method = 'GET', headers = {}, body }: Visit): Promise<Page> {
    const { pathname } = new URL(url);
    const cookies = [...this.cookies.values()].filter(({ path }) => pathname.startsWith(path));
    // RFC 6265, section 5.4
    cookies.sort((one, other) => other.path.length - one.path.length);
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const sent = { accept: 'text/html', ...this.always, ...headers, ...(cookie !== '' && { cookie }) };
    const response = await fetch(url, {
      method,
      headers: sent,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    for (const each of response.headers.getSetCookie()) this.keep(each);
    return new Page(url, response.status, response.headers, await response.text());
  }

  private keep(header: string): void {
    this.received.push(header);
    const [pair = '', ...attributes] = header.split('; ');
    const [name = '', value = ''] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    const path = attributes.find((each) => /^path=/i.test(each))?.slice('path='.length) ?? '/';
    if (value === '') this.cookies.delete(`${name} ${path}`);
    else this.cookies.set(`${name} ${path}`, { name, value, path });
  }
}
