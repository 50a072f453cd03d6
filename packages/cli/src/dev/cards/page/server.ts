import { type CallToolResult, Client, StreamableHTTPClientTransport, type Tool } from '@modelcontextprotocol/client';
import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import {
  getToolUiResourceUri,
  isToolVisibilityModelOnly,
  type McpUiResourceMeta,
  RESOURCE_MIME_TYPE,
} from '@modelcontextprotocol/ext-apps/app-bridge';

/** A tool with a card. */
export interface CardTool {
  readonly tool: Tool;
  readonly uri: string;
}

/** The HTML of a card, and what its resource says of it. */
export interface CardResource {
  readonly html: string;
  readonly meta: McpUiResourceMeta;
}

const CAPABILITIES = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } };
/** Cap on the pages of a list. */
const MAX_PAGES = 50;
/** People may step through a handler with a debugger. */
const PATIENT = { timeout: 3_600_000 };

/** The program's server, through the relay. */
export class Server {
  private readonly client = new Client(
    { name: 'decorum-dev-cards', version: '1.0.0' },
    { capabilities: CAPABILITIES, jsonSchemaValidator: new CfWorkerJsonSchemaValidator() },
  );
  private tools: readonly Tool[] = [];

  /** Whether the program has accepted this client. */
  isConnected = false;

  async connect(listsChange: () => void): Promise<void> {
    await this.client.connect(new StreamableHTTPClientTransport(new URL('/mcp', location.href)));
    this.isConnected = true;
    this.client.setNotificationHandler('notifications/tools/list_changed', listsChange);
  }

  /** The server's name and version. */
  get title(): string {
    const { name = '', version = '' } = this.client.getServerVersion() ?? {};
    return `${name} ${version}`;
  }

  /** The tools with a card, after asking for the list again. */
  async cardTools(): Promise<CardTool[]> {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await this.client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } });
      tools.push(...page.tools);
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined && pages < MAX_PAGES);
    this.tools = tools;
    return tools.flatMap((tool) => {
      const uri = uriOf(tool);
      return uri === undefined ? [] : [{ tool, uri }];
    });
  }

  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult> {
    const options = { ...PATIENT, ...(signal && { signal }) };
    return this.client.request({ method: 'tools/call', params: { name, arguments: args } }, options);
  }

  /**
   * Calls a tool for a card.
   * @throws {Error} if the tool is only for models
   */
  async callForCard(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    const tool = this.tools.find((each) => each.name === name);
    if (tool && isToolVisibilityModelOnly(tool))
      throw new Error(`The tool ${name} isn't for cards: see its visibility.`);
    return this.call(name, args, signal);
  }

  read(uri: string): ReturnType<Client['readResource']> {
    return this.client.request({ method: 'resources/read', params: { uri } }, PATIENT);
  }

  list(): ReturnType<Client['listResources']> {
    return this.client.request({ method: 'resources/list', params: {} });
  }

  /**
   * Reads a card.
   * @throws {Error} if the resource isn't a card
   */
  async card(uri: string): Promise<CardResource> {
    const [content] = (await this.read(uri)).contents;
    if (content === undefined) throw new Error(`The resource ${uri} has no content.`);
    if (content.mimeType !== RESOURCE_MIME_TYPE) {
      throw new Error(
        `The type of ${uri} is ${content.mimeType ?? 'missing'}. Cards have the type ${RESOURCE_MIME_TYPE}.`,
      );
    }
    const html = 'text' in content ? content.text : decode(content.blob);
    const { _meta: { ui: meta } = {} } = content;
    return { html, meta: typeof meta === 'object' && meta !== null ? (meta as McpUiResourceMeta) : {} };
  }
}

function uriOf(tool: Tool): string | undefined {
  try {
    return getToolUiResourceUri(tool);
  } catch {
    return undefined;
  }
}

const decode = (base64: string): string =>
  new TextDecoder().decode(Uint8Array.from(atob(base64), (each) => each.codePointAt(0) ?? 0));
