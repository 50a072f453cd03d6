// The card in the official host: clients of the official SDKs, the bridge of ext-apps, and Chromium.
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import {
  AppBridge,
  getToolUiResourceUri,
  isToolVisibilityAppOnly,
  McpUiResourceMetaSchema,
  McpUiToolMetaSchema,
  RESOURCE_MIME_TYPE,
} from '@modelcontextprotocol/ext-apps/app-bridge';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Browser, Page } from 'playwright-core';

import { findChromium, startChromium } from '../../../scripts/chromium.js';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const PROGRAM = { command: process.execPath, args: [MAIN, '--stdio'] };
const INFO = { name: 'host', version: '1.0.0' };
const SHOWS_PAGES = { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } };

type Client = Pick<ClientV2, 'listTools' | 'readResource' | 'callTool' | 'close'>;

async function clientV1(capabilities: object): Promise<Client> {
  const client = new ClientV1(INFO, { capabilities });
  await client.connect(new StdioV1(PROGRAM) as Parameters<ClientV1['connect']>[0]);
  return client as unknown as Client;
}

const clientV2 = (mode: 'legacy' | 'auto') => async (capabilities: object) => {
  const client = new ClientV2(INFO, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StdioV2(PROGRAM));
  return client;
};

describe.each([
  ['1.x', clientV1],
  ['2.x, with a session', clientV2('legacy')],
  ['2.x, without a session', clientV2('auto')],
])('a client of the SDK %s', (_name, connect) => {
  it('sees the card if it shows pages, and reads its metadata with the schemas of ext-apps', async () => {
    const client = await connect(SHOWS_PAGES);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => [tool.name, getToolUiResourceUri(tool), isToolVisibilityAppOnly(tool)])).toEqual([
      ['forecast', 'ui://weather/card', false],
      ['forecast_day', 'ui://weather/card', true],
    ]);
    for (const { _meta: meta } of tools) expect(McpUiToolMetaSchema.parse(meta?.['ui'])).toEqual(meta?.['ui']);
    const { contents } = await client.readResource({ uri: 'ui://weather/card' });
    expect(contents).toMatchObject([{ mimeType: RESOURCE_MIME_TYPE, text: expect.stringMatching(/^<!doctype html>/) }]);
    const [{ _meta: meta } = {}] = contents;
    expect(McpUiResourceMetaSchema.parse(meta?.['ui'])).toEqual({ prefersBorder: true });
    await client.close();
  });

  it('gets text without the card if it shows no pages', async () => {
    const client = await connect({});
    expect(JSON.stringify((await client.listTools()).tools)).not.toMatch(/ui:|forecast_day/);
    const { content } = await client.callTool({ name: 'forecast', arguments: { city: 'Oslo' } });
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^Tomorrow in Oslo: \w+, -2 °C$/) }]);
    await client.close();
  });
});

const CHROMIUM = findChromium();

describe('the card in Chromium', () => {
  if (CHROMIUM === undefined) {
    process.stderr.write('card.test.ts: no Chromium was found. Install one, or name it in CHROMIUM.\n');
    it('is shown by no test, because there is no Chromium', () => {
      expect(findChromium()).toBeUndefined();
    });
  } else inChromium(CHROMIUM);
});

function inChromium(path: string): void {
  let browser: Browser;
  let client: ClientV2;

  beforeAll(async () => {
    browser = await startChromium(path);
    client = await clientV2('auto')(SHOWS_PAGES);
  });
  afterAll(async () => {
    await browser.close();
    await client.close();
  });

  /** Shows a page in a sandboxed frame, with a bridge of ext-apps. */
  async function shown(page: Page, uri: string): Promise<AppBridge> {
    const bridge = new AppBridge(client, INFO, { serverTools: {} });
    const transport: Parameters<AppBridge['connect']>[0] = {
      async start() {
        await page.exposeFunction('toHost', (message: never) => transport.onmessage?.(message));
      },
      async send(message) {
        await page.evaluate(`frames[0].postMessage(${JSON.stringify(message)}, '*')`);
      },
      async close() {},
    };
    const initialized = new Promise<void>((resolve) => {
      bridge.oninitialized = () => resolve();
    });
    await bridge.connect(transport);
    const { contents } = await client.readResource({ uri });
    const { text } = contents[0] as { readonly text: string };
    await page.setContent(`<script>addEventListener('message', ({ data }) => toHost(data))</script>
      <iframe sandbox="allow-scripts" srcdoc="${text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"></iframe>`);
    await initialized;
    return bridge;
  }

  it('shows the result, and calls the tool that only it may call', async () => {
    const page = await browser.newPage();
    const bridge = await shown(page, 'ui://weather/card');
    const card = page.frameLocator('iframe');
    await bridge.sendToolInput({ arguments: { city: 'Rome' } });
    const result = await client.callTool({ name: 'forecast', arguments: { city: 'Rome' } });
    await bridge.sendToolResult(result as Parameters<AppBridge['sendToolResult']>[0]);
    await card.getByText('22 °C').waitFor();
    await card.getByRole('button', { name: '▶' }).click();
    await card.getByText('23 °C').waitFor();
    expect(await card.locator('#day').textContent()).toBe('in 2 days');
    await bridge.sendToolResult({ isError: true, content: [{ type: 'text', text: '<b>No station</b>' }] });
    await card.getByText('<b>No station</b>').waitFor();
    await page.close();
  });
}
