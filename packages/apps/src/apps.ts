import { definePlugin, startupError, type Extension, type ExtensionHost, type Plugin } from '@decorum/core/plugin';

import { APP_MIME_TYPE, APP_OPTIONS, servedApp } from './app.js';
import { textFallback } from './text-fallback.js';
import { checkUi, isForModel, uiOf, withUi, wrongUi } from './tool-ui.js';

/** The extension of one server, and whether a tool has a page. */
function appsExtension(): { readonly extension: Extension; hasPage(tool: string): boolean } {
  let host: ExtensionHost | undefined;
  let isOpen = false;
  /** Tools from before the server started, which may have been added before their pages. */
  const unchecked = new Set<string>();
  const pageOf = (tool: string) => uiOf(host?.optionsOf(tool) ?? {})?.resourceUri;

  const extension: Extension = {
    id: 'io.modelcontextprotocol/ui',
    toolOptions: { ui: true },
    resourceOptions: APP_OPTIONS,

    accepts: ({ mimeTypes }) => Array.isArray(mimeTypes) && mimeTypes.includes(APP_MIME_TYPE),

    start({ name }, options) {
      const uri = checkUi(name, options)?.resourceUri;
      if (uri === undefined) return undefined;
      if (isOpen && host !== undefined) requirePage(name, uri, host);
      else unchecked.add(name);
      return undefined;
    },

    tool(entry, options, { declared }) {
      const { resourceUri, visibility } = uiOf(options) ?? {};
      if (!declared) return isForModel({ visibility }) ? entry : undefined;
      // the page may have been removed in the meantime
      const isServed = resourceUri !== undefined && host?.resource(resourceUri) !== undefined;
      return withUi(entry, { ...(isServed && { resourceUri }), ...(visibility && { visibility }) });
    },

    moved(options, move) {
      const ui = uiOf(options);
      return ui?.resourceUri === undefined ? options : { ...options, ui: { ...ui, resourceUri: move(ui.resourceUri) } };
    },

    resource: servedApp,

    open(opened) {
      if (isOpen) {
        const problem = 'share one `apps()` with another server. Call it for each server';
        throw startupError('DECORUM_INVALID_OPTION', opened.server, 'plugins', problem);
      }
      isOpen = true;
      host = opened;
      for (const tool of unchecked) {
        const uri = pageOf(tool);
        if (uri !== undefined) requirePage(tool, uri, opened);
      }
    },

    stop() {
      isOpen = false;
    },
  };
  return { extension, hasPage: (tool) => pageOf(tool) !== undefined };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` if the server doesn't have the page */
function requirePage(tool: string, uri: string, host: ExtensionHost): void {
  const page = host.resource(uri);
  if (page === undefined) {
    throw wrongUi(tool, `is "${uri}", but the server has no such resource. Add a method with @App('${uri}')`);
  }
  if (page.mimeType !== APP_MIME_TYPE) {
    const type = page.mimeType === undefined ? 'no MIME type' : `the MIME type "${page.mimeType}"`;
    throw wrongUi(tool, `is "${uri}", a resource with ${type}. Serve it with @App`);
  }
}

/**
 * Lets tools have pages, which hosts show in the conversation (MCP Apps).
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
 *   @App('ui://weather/card')
 *   card() {
 *     return '<!doctype html><title>Weather</title><p>Sunny, 21 °C</p>';
 *   }
 * }
 *
 * new McpServer({ name: 'weather', version: '1.0.0', providers: [Weather], plugins: [apps()] });
 * ```
 */
export const apps: () => Plugin = definePlugin(() => {
  const { extension, hasPage } = appsExtension();
  return { name: 'apps', extensions: [extension], interceptors: [textFallback(hasPage)] };
});
