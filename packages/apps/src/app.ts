import { Resource, type JsonObject, type MemberDecorator, type Method, type ResourceOptions } from '@decorum/core';
import { requireOptions, startupError, type Extension, type OptionTypes } from '@decorum/core/plugin';

/** The MIME type of apps. */
export const APP_MIME_TYPE = 'text/html;profile=mcp-app';

/** What the page of an app may load. Everything that isn't listed is blocked by the host. */
export interface AppCsp {
  /** Origins for `fetch`, XHR and WebSocket, such as `https://api.example.com` or `wss://live.example.com`. */
  readonly connectDomains?: readonly string[];
  /** Origins of scripts, styles, images, fonts and media. */
  readonly resourceDomains?: readonly string[];
  /** Origins of nested frames. */
  readonly frameDomains?: readonly string[];
  /** Origins that `<base>` may have. */
  readonly baseUriDomains?: readonly string[];
}

/** A feature of the browser that a page has only with permission. */
export type AppPermission = 'camera' | 'microphone' | 'geolocation' | 'clipboardWrite';

/** Options of `@App`. */
export interface AppOptions extends Omit<ResourceOptions, 'mimeType' | 'size' | 'list' | 'input'> {
  /** What the page may load. Defaults to nothing. */
  readonly csp?: AppCsp;
  /** Features of the browser that the page asks for. The host may refuse them. */
  readonly permissions?: readonly AppPermission[];
  /** A dedicated origin for the page, in a format that each host defines. Defaults to one that the host chooses. */
  readonly domain?: string;
  /** Whether the host should draw a border around the page. By default, the host decides. */
  readonly prefersBorder?: boolean;
}

/** `app` marks resources with `@App`. */
export const APP_OPTIONS: OptionTypes<Omit<AppOptions, keyof ResourceOptions> & { app: true }> = {
  app: 'boolean',
  csp: 'object',
  permissions: 'array',
  domain: 'string',
  prefersBorder: 'boolean',
};

const CSP: OptionTypes<AppCsp> = {
  connectDomains: 'array',
  resourceDomains: 'array',
  frameDomains: 'array',
  baseUriDomains: 'array',
};

const PERMISSIONS: readonly AppPermission[] = ['camera', 'microphone', 'geolocation', 'clipboardWrite'];

/**
 * Serves a method as the page of tools, which refer to it with the option `ui`. Return HTML as text, bytes or a stream.
 * The server needs `apps()` among its `plugins`.
 * @param uri a URI that starts with `ui://`, without variables
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a method
 * @see https://modelcontextprotocol.io/extensions/apps/overview
 * @example
 * ```ts
 * import { McpServer, Tool } from '@decorum/core';
 * import { App, apps } from '@decorum/apps';
 *
 * class Weather {
 *   @Tool({ description: 'Tells tomorrow’s weather', ui: 'ui://weather/card' })
 *   forecast() {
 *     return 'Sunny, 21 °C';
 *   }
 *
 *   @App('ui://weather/card', { csp: { connectDomains: ['https://api.example.com'] }, prefersBorder: true })
 *   card() {
 *     return readFile('card.html', 'utf8');
 *   }
 * }
 *
 * new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather], plugins: [apps()] });
 * ```
 */
export function App(uri: string, options: AppOptions = {}, ...rest: unknown[]): MemberDecorator<Method> {
  if (typeof uri !== 'string' || rest.length > 0) {
    // without parentheses, the compiler passes the name of the method here, or an object that has it
    const name = typeof options === 'string' ? options : ((options as { readonly name?: unknown })?.name ?? 'a method');
    const problem = "needs a URI. Write @App('ui://weather/card')";
    throw startupError('DECORUM_MISUSED_DECORATOR', String(name), 'App', problem);
  }
  if (typeof options !== 'object' || options === null) {
    const problem = "takes an options object. Write @App('ui://weather/card', { prefersBorder: true })";
    throw startupError('DECORUM_MISUSED_DECORATOR', uri, 'App', problem);
  }
  return Resource(uri, { ...options, app: true, mimeType: APP_MIME_TYPE } as Omit<ResourceOptions, 'input'>);
}

/**
 * What becomes of a resource with the options of `@App`.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function servedApp(uri: string, options: AppOptions): ReturnType<NonNullable<Extension['resource']>> {
  const meta = metaOf(uri, options);
  return {
    meta,
    contents: ({ _meta: own, ...given }) => ({ ...given, mimeType: APP_MIME_TYPE, _meta: { ...meta, ...own } }),
  };
}

function metaOf(uri: string, { csp, permissions, domain, prefersBorder }: AppOptions): JsonObject {
  const where = `The app "${uri}"`;
  const wrong = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', where, option, problem);
  if (!/^ui:\/\/[^/]/.test(uri)) {
    throw wrong(
      'uri',
      'does not start with "ui://" and a name. Write @App(\'ui://weather/card\'), without `uriPrefix`',
    );
  }
  if (uri.includes('{')) throw wrong('uri', 'has variables. Hosts read it before any tool runs, so write a fixed URI');
  if (csp !== undefined) requireOptions(`${where} (csp)`, csp, CSP);
  for (const [option, origins] of Object.entries<readonly string[] | undefined>({ ...csp })) {
    for (const origin of origins ?? []) {
      const problem = problemOf(origin, option);
      if (problem !== undefined) throw wrong(`csp.${option}`, problem);
    }
  }
  const unknown = permissions?.find((each) => !PERMISSIONS.includes(each));
  if (unknown !== undefined) {
    throw wrong('permissions', `has ${JSON.stringify(unknown)}. Use ${PERMISSIONS.join(', ')}`);
  }
  if (domain !== undefined && !/^[\w.-]+$/.test(domain)) {
    throw wrong('domain', `is ${JSON.stringify(domain)}, which is not the name of a host`);
  }
  const ui = {
    ...(csp && { csp }),
    ...(permissions && { permissions: Object.fromEntries(permissions.map((each) => [each, {}])) }),
    ...(domain !== undefined && { domain }),
    ...(prefersBorder !== undefined && { prefersBorder }),
  };
  return { ui };
}

/** Hosts write origins into a header, so anything else may change its meaning or be dropped. */
function problemOf(given: unknown, option: string): string | undefined {
  const schemes = option === 'connectDomains' ? ['https', 'http', 'wss', 'ws'] : ['https', 'http'];
  const remedy = 'Write an origin, such as "https://api.example.com" or "https://*.example.com"';
  const text = String(given);
  // a label in place of the wildcard makes it a URL
  const url = text.replace('://*.', '://any.');
  // URLs may have a semicolon or a comma in the name of a host. In the header, it would begin another rule
  if (
    !URL.canParse(url) ||
    !schemes.includes(url.split(':')[0] as string) ||
    !/^[\w.:*[\]-]+$/.test(new URL(url).host)
  ) {
    return `has ${JSON.stringify(given)}, which is not an origin of ${schemes.join(', ')}. ${remedy}`;
  }
  const { origin } = new URL(url);
  if (origin.includes('*')) return `has ${JSON.stringify(given)}, whose wildcard is not at its start. ${remedy}`;
  if (origin === url) return undefined;
  return `has ${JSON.stringify(given)}. Write "${url === text ? origin : origin.replace('://any.', '://*.')}"`;
}
