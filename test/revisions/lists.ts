// Servers with long lists, and how to read them.
import { type JsonObject, NoInput, Prompt, Resource, Tool } from '@decorum/core';

import type { RawClient } from '../support/raw-client.js';
import { serverOf } from './servers.js';

/** The methods that give lists, and the member of their results that is one. */
export const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

/** A class with one of each, all of the same name. */
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

/** All pages of a list. */
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

/** So many names. */
export const names = (count: number) => Array.from({ length: count }, (_item, index) => `n${index}`);

/** A server with so many of each. */
export const many = (count: number, pageSize: number) => serverOf({ providers: names(count).map(copies), pageSize });
