// Servers with long lists, and functions to read them.
import { type JsonObject, type McpServerOptions, NoInput, Prompt, Resource, Tool } from '@decorum/core';

import type { RawClient } from '../support/raw-client.js';
import { serverOf } from './servers.js';

/** The list methods and the members of their results. */
export const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

/** Creates a class with one member of each kind, all with the same name. */
export function copies(name: string) {
  class Copy {
    @Tool({ name })
    tool() {}

    @Prompt({ name })
    prompt() {
      return '';
    }

    @Resource(`docs://${name}`)
    resource() {
      return '';
    }

    @Resource(`docs://${name}/{id}`)
    template(_variables: NoInput) {
      return '';
    }
  }
  return Copy;
}

/** Reads all pages of a list. */
export async function pagesOf(client: RawClient, method: string): Promise<JsonObject[]> {
  const pages: JsonObject[] = [];
  let cursor: unknown;
  do {
    const page = await client.result(method, cursor === undefined ? undefined : { cursor });
    pages.push(page);
    cursor = page['nextCursor'];
  } while (cursor !== undefined);
  return pages;
}

/** Generates names. */
export const names = (count: number) => Array.from({ length: count }, (_item, index) => `n${index}`);

/** A server with `count` members of each kind. */
export const many = (count: number, pageSize: number, options: Partial<McpServerOptions> = {}) =>
  serverOf({ providers: names(count).map(copies), pageSize, ...options });
