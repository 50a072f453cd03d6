import { isObject, type JsonObject } from '@decorum/schema/internal';

import type { Exchange } from '../../protocol/exchange.js';
import type { Tool } from '../../protocol/model.js';
import type { Client } from '../../protocol/client.js';
import type { AddedOptions } from '../../registry/check-options.js';
import type { ExtendedResource } from '../../registry/resource-plan.js';
import type { ToolExtras, ToolPlan } from '../../registry/tool-plan.js';
import type { Extension, StartingCall, ToolVariant } from './extension.js';

/** Whether a client declares an extension, with settings that the extension accepts. */
export function declares({ capabilities }: Client, extension: Extension): boolean {
  const settings = capabilities.extensions?.[extension.id];
  return isObject(settings) && (extension.accepts?.(settings) ?? true);
}

/** What a call needs to be started by an extension. */
export type Starting = Omit<StartingCall, 'declared'>;

const hasSome = (types: object = {}, options: JsonObject) => Object.keys(types).some((name) => name in options);

/** What extensions make of tools and resources. */
export class ExtendedTools {
  /** The types of the options that they add. */
  readonly options: AddedOptions;
  /** The extensions that change entries. */
  private readonly changing: readonly Extension[];

  constructor(private readonly extensions: readonly Extension[]) {
    this.options = {
      tool: Object.assign({}, ...extensions.map(({ toolOptions }) => toolOptions)) as object,
      resource: Object.assign({}, ...extensions.map(({ resourceOptions }) => resourceOptions)) as object,
    };
    this.changing = extensions.filter(({ tool }) => tool !== undefined);
  }

  /** Tells clients apart by the extensions that change entries: a number, or undefined if there are none. */
  variantOf({ peer }: Exchange): number | undefined {
    const { changing } = this;
    if (changing.length === 0) return undefined;
    const { client } = peer;
    return changing.reduce((sum, each, index) => sum + (declares(client, each) ? 2 ** index : 0), 0);
  }

  /** Whether an extension hides a tool from a client. */
  hides({ entry, extras }: ToolPlan, exchange: Exchange): boolean {
    if (extras?.write === undefined) return false;
    return extras.write({ ...entry }, exchange.revision.id, this.variantOf(exchange) ?? 0) === undefined;
  }

  /** The options of a tool whose server is mounted with other URIs. */
  moved(options: JsonObject, move: (uri: string) => string): JsonObject {
    return this.extensions.reduce((changed, each) => each.moved?.(changed, move) ?? changed, options);
  }

  /** What an extension makes of one resource; undefined if nothing. */
  resource(uri: string, options: JsonObject): ExtendedResource | undefined {
    const owner = this.extensions.find(({ resourceOptions }) => hasSome(resourceOptions, options));
    return owner?.resource?.(uri, options);
  }

  /** What the extensions make of one tool; undefined if nothing. */
  extrasOf(tool: Tool, options: JsonObject): ToolExtras | undefined {
    const starters = this.extensions.flatMap((extension) => {
      const start = extension.start?.(tool, options);
      return start === undefined ? [] : [{ extension, start }];
    });
    const changes = this.changing.filter(({ toolOptions }) => hasSome(toolOptions, options));
    if (starters.length === 0 && changes.length === 0) return undefined;
    return {
      options,
      ...(starters.length > 0 && {
        start(starting: Starting) {
          const { client } = starting.call;
          for (const { extension, start } of starters) {
            const result = start({ ...starting, declared: declares(client, extension) });
            if (result !== undefined) return result;
          }
          return undefined;
        },
      }),
      ...(changes.length > 0 && {
        write: (entry: JsonObject, revision: string, variant: number) =>
          this.changed(changes, { entry, options, revision, variant }),
      }),
    };
  }

  private changed(
    changes: readonly Extension[],
    given: {
      readonly entry: JsonObject;
      readonly options: JsonObject;
      readonly revision: string;
      readonly variant: number;
    },
  ): JsonObject | undefined {
    const { options, revision, variant } = given;
    // revisions that change nothing share the entry
    let entry: JsonObject | undefined = { ...given.entry };
    for (const extension of changes) {
      const declared = Math.floor(variant / 2 ** this.changing.indexOf(extension)) % 2 === 1;
      const seen: ToolVariant = { revision, declared };
      entry = entry && extension.tool?.(entry, options, seen);
    }
    return entry;
  }
}
