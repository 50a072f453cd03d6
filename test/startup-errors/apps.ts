import { App, apps } from '@decorum/apps';
import { connectMemory, McpServer, NoInput, Resource, Tool } from '@decorum/core';

import { type AnyDecorator, type Mistakes, serverOf, untyped, wrong } from './table.js';

const CARD = 'ui://weather/card';

/** A server with a page. */
const page = (options?: unknown, uri = CARD) => {
  class Weather {
    card() {
      return '<!doctype html>';
    }
  }
  const { prototype } = Weather;
  const decorate = untyped<AnyDecorator>(App)(uri, options);
  decorate(prototype, 'card', Object.getOwnPropertyDescriptor(prototype, 'card'));
  return serverOf([Weather], { plugins: [apps()] });
};

class Weather {
  @Tool({ input: NoInput, ui: CARD }) forecast() {}

  @App(CARD) card() {
    return '<!doctype html>';
  }
}

class Plain {
  @Resource(CARD, { mimeType: 'text/html' }) card() {
    return '<!doctype html>';
  }
}

/** Opens a server with a tool. */
async function open(options: object, providers: readonly unknown[] = [], plugins = [apps()]): Promise<void> {
  const server = new McpServer({ name: 'test', version: '1.0.0', providers: providers as object[], plugins });
  server.addTool({ name: 'forecast', ...options }, () => 'Sunny');
  try {
    await connectMemory(server, { receive() {} });
  } finally {
    await server.close();
  }
}

const ORIGIN = 'Write an origin, such as "https://api.example.com" or "https://*.example.com"';

/** Mistakes with pages. */
export const APPS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...wrong("@App('ui://weather/card', …)", page, [
      [{ preferBorder: true }, 'Weather.card: `preferBorder` is not an option. Write `prefersBorder`'],
      [
        { input: NoInput, list: 'all' },
        'Weather.card: `list` applies to templates only, but this URI has no variables. Remove it',
      ],
      [{ csp: { connectDomain: [] } }, '(csp): `connectDomain` is not an option. Write `connectDomains`'],
      [
        { csp: { connectDomains: ['api.example.com'] } },
        `The app "ui://weather/card": \`csp.connectDomains\` has "api.example.com", which is not an origin of https, http, wss, ws. ${ORIGIN}`,
      ],
      [{ csp: { frameDomains: ['wss://a.example'] } }, `\`csp.frameDomains\` has "wss://a.example" ... ${ORIGIN}`],
      [
        ['*', "https://a.example; script-src 'self'", 'https://a.example;sandbox', 'https://a.example,b'].map(
          (origin) => ({
            csp: { resourceDomains: [origin] },
          }),
        ),
        `\`csp.resourceDomains\` ... ${ORIGIN}`,
      ],
      [{ csp: { baseUriDomains: ['https://a.*.example'] } }, `whose wildcard is not at its start. ${ORIGIN}`],
      [
        { csp: { connectDomains: ['https://a.example/api'] } },
        'has "https://a.example/api". Write "https://a.example"',
      ],
      [{ csp: { connectDomains: ['https://*.A.example/'] } }, 'Write "https://*.a.example"'],
      [{ permissions: ['gps'] }, '`permissions` has "gps". Use camera, microphone, geolocation, clipboardWrite'],
      [{ domain: 'https://a.example' }, '`domain` is "https://a.example", which is not the name of a host'],
    ]),
    ...wrong('@App(…)', (uri) => page({}, uri), [
      [
        ['docs://card', 'ui:card', 'UI://card'],
        '`uri` does not start with "ui://" and a name. Write @App(\'ui://weather/card\'), without `uriPrefix`',
      ],
      ['ui://weather/{city}', '`uri` has variables. Hosts read it before any tool runs, so write a fixed URI'],
    ]),
    [
      'a provider of pages with a prefix for URIs',
      () => serverOf([{ provider: Weather, uriPrefix: 'eu+' }], { plugins: [apps()] }),
      'The app "eu+ui://weather/card" ... without `uriPrefix`',
    ],
    [
      'pages without the plugin',
      () => serverOf([Weather]),
      'Weather.forecast: `ui` needs a plugin. Add `apps()` of @decorum/apps to `plugins`',
    ],
    ...wrong('ui: …', (ui) => open({ ui }, [Weather]), [
      [5, 'The tool "forecast" (ui): `options` must be an object. Pass { … }'],
      [
        { uri: CARD },
        'The tool "forecast" (ui): `uri` is not an option. Remove it, or use one of resourceUri, visibility',
      ],
      [{}, 'The tool "forecast": `ui` is empty. Write `ui: \'ui://weather/card\'`'],
      [
        [{ visibility: [] }, { visibility: ['user'] }],
        "The tool \"forecast\": `ui` has a `visibility` other than 'model' and 'app'",
      ],
    ]),
    [
      'a page that the server does not have',
      () => open({ ui: CARD }),
      `The tool "forecast": \`ui\` is "${CARD}", but the server has no such resource. Add a method with @App('${CARD}')`,
    ],
    [
      'a resource that is no page',
      () => open({ ui: CARD }, [Plain]),
      `The tool "forecast": \`ui\` is "${CARD}", a resource with the MIME type "text/html". Serve it with @App`,
    ],
    [
      'a tool with a page and without text',
      () => open({ ui: CARD, text: false, output: { type: 'object' } }, [Weather]),
      'The tool "forecast": `text` is false, but clients without apps get only text. Remove it, or write the text',
    ],
    [
      'one apps() for two servers',
      async () => {
        const plugins = [apps()];
        const first = serverOf([], { plugins });
        await connectMemory(first, { receive() {} });
        try {
          await open({}, [], plugins);
        } finally {
          await first.close();
        }
      },
      'test: `plugins` share one `apps()` with another server. Call it for each server',
    ],
  ],
  DECORUM_MISUSED_DECORATOR: [
    [
      '@App without parentheses',
      [
        () => untyped(App)(class {}.prototype, 'card', {}),
        () => untyped(App)(() => '', { kind: 'method', name: 'card' }),
      ],
      "card: @App needs a URI. Write @App('ui://weather/card')",
    ],
    [
      "@App('ui://weather/card', 'Weather')",
      () => page('Weather'),
      `${CARD}: @App takes an options object. Write @App('${CARD}', { prefersBorder: true })`,
    ],
  ],
};
