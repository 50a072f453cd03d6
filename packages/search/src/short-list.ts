import type { JsonObject } from '@decorum/core';
import { isObject, type ListRequest, type ToolCatalog, type ToolPlan } from '@decorum/core/internal';

import type { SearchSettings } from './search-options.js';
import type { ToolNames } from './tool-names.js';
import { uiOf } from './tool-ui.js';

/** The key of `_meta`, and the header, with which clients ask for the whole list. */
const META_KEY = 'dev.decorum/tools';
const HEADER = 'decorum-tools';

/** Whether a client asks for all tools. */
const wantsAll = ({ meta, headers }: ListRequest): boolean =>
  meta?.[META_KEY] === 'all' || headers?.[HEADER]?.toString().trim().toLowerCase() === 'all';

/** One finds tools, the other calls them. */
const FINDERS = 2;

/** What callers with the same permissions may get. */
interface Lists {
  readonly all: readonly ToolPlan[];
  readonly few: readonly ToolPlan[];
}

/** Lists a few tools, if there are many, and reads calls of `call_tool`. */
export class ShortList implements ToolCatalog {
  private readonly lists = new WeakMap<readonly ToolPlan[], Lists>();
  private readonly always: ReadonlySet<string>;
  private readonly tags: ReadonlySet<string>;

  constructor(
    private readonly settings: SearchSettings,
    private readonly names: ToolNames,
  ) {
    this.always = new Set(settings.always);
    this.tags = new Set(settings.alwaysTags);
  }

  listed(visible: readonly ToolPlan[], request: ListRequest): readonly ToolPlan[] {
    const { all, few } = this.listsOf(visible);
    return all.length <= this.settings.above || wantsAll(request) ? all : few;
  }

  meant(params: JsonObject): JsonObject | undefined {
    const { name, arguments: given } = params;
    if (name !== this.names.call || !isObject(given)) return undefined;
    const { name: target, arguments: args, ...others } = given;
    // the schema of `call_tool` says what is wrong: arguments in the wrong place must not be lost
    if (Object.keys(others).length > 0) return undefined;
    return { ...params, name: target, arguments: args };
  }

  private listsOf(visible: readonly ToolPlan[]): Lists {
    const known = this.lists.get(visible);
    if (known) return known;
    const all = visible.filter(({ isFinder }) => isFinder === undefined);
    const few = visible
      .filter((tool) => this.isListed(tool))
      .sort((a, b) => Number(b.isFinder === true) - Number(a.isFinder === true));
    // a plugin may hide one of the two, and then nothing finds and calls the others
    const lists = { all, few: visible.length - all.length === FINDERS ? few : all };
    this.lists.set(visible, lists);
    return lists;
  }

  private isListed(tool: ToolPlan): boolean {
    const { key, tags = [], isFinder = false } = tool;
    if (isFinder || this.always.has(key) || tags.some((tag) => this.tags.has(tag))) return true;
    // hosts read of pages in the list, and their clients may call tools as tasks only if the list says so
    return uiOf(tool) !== undefined || tool.options['task'] === 'required';
  }
}
