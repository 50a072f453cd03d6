/**
 * The frame between the page and a card (MCP Apps, "Sandbox proxy"). It has an origin of its own, loads the card's HTML
 * into a frame without any origin, and passes on messages. The card's document inherits the policy of this one.
 */
const PREFIX = 'ui/notifications/sandbox-';
const READY = `${PREFIX}proxy-ready`;
const RESOURCE = `${PREFIX}resource-ready`;
/** A card has no origin: no cookies, no storage, and no access to this document. */
const SANDBOX = 'allow-scripts allow-forms';

/** The features that a card may ask for, by the name of their permission. */
const FEATURES: Readonly<Record<string, string>> = {
  camera: 'camera',
  microphone: 'microphone',
  geolocation: 'geolocation',
  clipboardWrite: 'clipboard-write',
};

/** What the page sends with the card's HTML. */
interface CardResource {
  readonly html: string;
  readonly permissions?: Readonly<Record<string, unknown>>;
}

const page = `http://127.0.0.1:${location.port}`;
let card: HTMLIFrameElement | undefined;

const methodOf = (message: unknown): string => {
  const { method } = (message ?? {}) as { method?: unknown };
  return typeof method === 'string' ? method : '';
};

function show({ html, permissions = {} }: CardResource): void {
  card?.remove();
  card = document.createElement('iframe');
  card.title = 'Card';
  card.setAttribute('sandbox', SANDBOX);
  card.allow = Object.keys(permissions)
    .flatMap((name) => FEATURES[name] ?? [])
    .join('; ');
  card.srcdoc = html;
  document.body.append(card);
}

addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
  const method = methodOf(data);
  if (source === parent && origin === page) {
    if (method === RESOURCE) show((data as { params: CardResource }).params);
    else if (!method.startsWith(PREFIX)) card?.contentWindow?.postMessage(data, '*');
  } else if (card && source === card.contentWindow && !method.startsWith(PREFIX)) {
    parent.postMessage(data, page);
  }
});
parent.postMessage({ jsonrpc: '2.0', method: READY, params: {} }, page);
