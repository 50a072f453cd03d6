import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/client';
import {
  AppBridge,
  buildAllowAttribute,
  type McpUiDisplayMode,
  type McpUiHostContext,
  PostMessageTransport,
} from '@modelcontextprotocol/ext-apps/app-bridge';

import { element } from './dom.js';
import type { Messages, Sender } from './messages.js';
import type { CardResource, CardTool, Server } from './server.js';

/** What a card may ask of the page. */
export interface CardHost {
  readonly server: Server;
  readonly messages: Messages;
  /** Where the card is shown. */
  readonly place: HTMLElement;
  /** Asks the user whether to open a link. */
  readonly openLink: (url: string) => Promise<boolean>;
  /** Shows what the card tells the model. */
  readonly tellModel: (kind: 'message' | 'context', content: unknown) => void;
  /** Shows the card in another mode. */
  readonly display: (mode: McpUiDisplayMode) => void;
}

const HOST = { name: 'decorum dev', version: '1.0.0' };
const MODES: McpUiDisplayMode[] = ['inline', 'fullscreen'];
const SANDBOX = `http://localhost:${location.port}`;
const MIN_HEIGHT = 40;
const MAX_HEIGHT = 4000;
const START_HEIGHT = 160;
const TEARDOWN_MS = 500;

/** The names of the messages between the page and the frame around a card. */
const OWN = 'ui/notifications/sandbox-';

/** What changes while a card is shown. */
const contextNow = (): McpUiHostContext => ({
  theme: document.documentElement.dataset['theme'] === 'dark' ? 'dark' : 'light',
  locale: navigator.language,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  platform: 'web',
});

/** A card in its frames, and the conversation with it. */
export class Card {
  /** Resolves when the card has introduced itself. */
  readonly ready: Promise<void>;
  private readonly frame = element('iframe', { title: 'Card' });
  private readonly bridge: AppBridge;
  private context: McpUiHostContext;
  private isReady = false;

  constructor(
    private readonly host: CardHost,
    { tool }: CardTool,
    private readonly resource: CardResource,
  ) {
    const { permissions = {}, csp = {} } = resource.meta;
    const capabilities = {
      openLinks: {},
      serverTools: {},
      serverResources: {},
      logging: {},
      message: { text: {} },
      updateModelContext: { text: {}, structuredContent: {} },
      sandbox: { permissions, csp },
    };
    this.context = {
      toolInfo: { tool },
      ...contextNow(),
      displayMode: 'inline',
      availableDisplayModes: MODES,
      containerDimensions: this.roomIn('inline'),
    };
    this.bridge = new AppBridge(null, HOST, capabilities, { hostContext: this.context });
    this.ready = new Promise((resolve) => {
      this.bridge.addEventListener('initialized', () => {
        this.isReady = true;
        resolve();
      });
    });
    this.answer();
  }

  /** Loads the card. */
  async open(): Promise<void> {
    const { csp = {}, permissions = {} } = this.resource.meta;
    const { frame, bridge } = this;
    frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms');
    frame.allow = buildAllowAttribute(permissions);
    frame.style.height = `${START_HEIGHT}px`;
    frame.src = `${SANDBOX}/sandbox?domains=${encodeURIComponent(JSON.stringify(csp))}`;
    bridge.addEventListener('sandboxready', () => {
      void bridge.sendSandboxResourceReady({ html: this.resource.html, csp, permissions });
    });
    this.host.place.replaceChildren(frame);
    const { contentWindow } = frame;
    if (contentWindow === null) throw new Error('The frame has no window.');
    await bridge.connect(this.listedTransport(contentWindow));
  }

  input(args: Record<string, unknown>): Promise<void> {
    return this.bridge.sendToolInput({ arguments: args });
  }

  result(result: CallToolResult): Promise<void> {
    return this.bridge.sendToolResult(result);
  }

  cancelled(reason: string): Promise<void> {
    return this.bridge.sendToolCancelled({ reason });
  }

  /** Tells the card what has changed on the page, such as its theme or size. */
  contextChanged(displayMode = this.context.displayMode ?? 'inline'): void {
    this.context = { ...this.context, ...contextNow(), displayMode, containerDimensions: this.roomIn(displayMode) };
    if (this.isReady) this.bridge.setHostContext(this.context);
  }

  /** Shows the card in another mode, and tells it. */
  show(mode: McpUiDisplayMode): void {
    this.host.display(mode);
    this.contextChanged(mode);
  }

  /** Lets the card end, then removes it. */
  async close(): Promise<void> {
    const { bridge, frame } = this;
    this.host.display('inline');
    const wasReady = this.isReady;
    this.isReady = false;
    if (wasReady) await bridge.teardownResource({}, { timeout: TEARDOWN_MS }).catch(() => {});
    await bridge.close();
    frame.remove();
  }

  private roomIn(mode: McpUiDisplayMode): { width: number } & ({ height: number } | { maxHeight: number }) {
    const { clientWidth: width, clientHeight: height } = this.host.place;
    return mode === 'fullscreen' ? { width, height } : { width, maxHeight: MAX_HEIGHT };
  }

  /** A transport that adds each message to the list. Messages go only to the frame's own origin. */
  private listedTransport(frame: Window): PostMessageTransport {
    const list = (sender: Sender, message: JSONRPCMessage) => {
      const method = 'method' in message ? message.method : '';
      if (!method.startsWith(OWN)) this.host.messages.add(sender, message);
    };
    const target = { postMessage: (message: JSONRPCMessage) => frame.postMessage(message, SANDBOX) };
    const transport = new PostMessageTransport(target as unknown as Window, frame);
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      list('host', message);
      return send(message, options);
    };
    let receive: PostMessageTransport['onmessage'];
    Object.defineProperty(transport, 'onmessage', {
      get: () => receive,
      set: (next: PostMessageTransport['onmessage']) => {
        receive = (message, extra) => {
          list('card', message);
          next?.(message, extra);
        };
      },
    });
    return transport;
  }

  /** Answers what the card asks. */
  private answer(): void {
    const { bridge, host } = this;
    const { server } = host;
    bridge.oncalltool = ({ name, arguments: args = {} }, { mcpReq }) => server.callForCard(name, args, mcpReq.signal);
    bridge.onreadresource = ({ uri }) => server.read(uri);
    bridge.onlistresources = () => server.list();
    bridge.onopenlink = async ({ url }) => ((await host.openLink(url)) ? {} : { isError: true });
    // a handler that answers, not an event
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    bridge.onmessage = async ({ content }) => {
      host.tellModel('message', content);
      return {};
    };
    bridge.onupdatemodelcontext = async (context) => {
      host.tellModel('context', context);
      return {};
    };
    bridge.onrequestdisplaymode = async ({ mode }) => {
      const supported = bridge.getAppCapabilities()?.availableDisplayModes;
      if (MODES.includes(mode) && (supported?.includes(mode) ?? true)) this.show(mode);
      return { mode: this.context.displayMode ?? 'inline' };
    };
    bridge.addEventListener('sizechange', ({ height }) => {
      if (height === undefined || !Number.isFinite(height)) return;
      this.frame.style.height = `${Math.min(Math.max(height, MIN_HEIGHT), MAX_HEIGHT)}px`;
    });
    bridge.addEventListener('requestteardown', () => void this.close());
    // registered so that the bridge knows the method; the list shows the message
    bridge.addEventListener('loggingmessage', () => {});
  }
}
