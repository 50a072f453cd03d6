// Servers with long lists, and functions to read them.
import {
  type Access,
  type JsonObject,
  type McpServer,
  type McpServerOptions,
  NoInput,
  type Principal,
  Prompt,
  Resource,
  Tool,
} from '@decorum/core';

import type { RawClient } from '../support/raw-client.js';
import { serverOf } from './servers.js';

/** The list methods and the members of their results. */
export const LISTS = [
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
] as const;

/** Creates a class with one member of each kind, all with the same name and options. */
export const copiesWith = (guard: { readonly access?: Access }) => (name: string) => {
  class Copy {
    @Tool({ name, ...guard })
    tool() {}

    @Prompt({ name, ...guard })
    prompt() {
      return '';
    }

    @Resource(`docs://${name}`, guard)
    resource() {
      return '';
    }

    @Resource(`docs://${name}/{id}`, guard)
    template(_variables: NoInput) {
      return '';
    }
  }
  return Copy;
};

/** The same, for everybody. */
export const copies = copiesWith({});

/** A class for each kind of member, with these options. */
export function kindsOf(options: object = {}) {
  class OneTool {
    @Tool(options)
    tool() {
      return 'taken';
    }
  }
  class OnePrompt {
    @Prompt(options)
    prompt() {
      return '';
    }
  }
  class OneResource {
    @Resource('docs://one', options)
    resource() {
      return '';
    }
  }
  class OneTemplate {
    @Resource('docs://{at}', options)
    template(_variables: NoInput) {
      return '';
    }
  }
  return { OneTool, OnePrompt, OneResource, OneTemplate };
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

/** A server whose lists have members that only users see, and asynchronously so. */
export function restricted(count: number, options: Partial<McpServerOptions> = {}): McpServer {
  const access = async (principal?: Principal) => await Promise.resolve(principal !== undefined);
  const providers = names(count).map(copiesWith({ access }));
  return serverOf({ providers, pageSize: 2, ...options });
}

/** A server whose resources are listed by a method, and the entries that it lists. */
export function enumerated(count: number, options: Partial<McpServerOptions> = {}) {
  const entries = names(count);
  class Enumerating {
    @Resource('notes://{id}', { list: 'all' })
    note(_variables: NoInput) {
      return '';
    }

    async all() {
      return entries.map((id) => `notes://${id}`);
    }
  }
  return { entries, server: serverOf({ providers: [Enumerating], pageSize: 2, ...options }) };
}

type Entry = { readonly name: string; readonly uri?: string; readonly uriTemplate?: string };

/** What tells the entries of a page apart. */
export const namesOf = (page: JsonObject, member: string) =>
  (page[member] as Entry[]).map(({ name, uri, uriTemplate }) => uri ?? uriTemplate ?? name);
