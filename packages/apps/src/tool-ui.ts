import type { JsonObject } from '@decorum/core';
import { requireOptions, startupError } from '@decorum/core/plugin';

/** Who uses a tool: the model, or pages of the same server. */
export type ToolVisibility = 'model' | 'app';

/** The option `ui` of a tool. */
export interface ToolUi {
  /** The URI of a method with `@App`. */
  readonly resourceUri?: string;
  /** Defaults to both. A tool that only apps use is hidden from clients without apps. */
  readonly visibility?: readonly ToolVisibility[];
}

declare module '@decorum/core' {
  interface ExtensionToolOptions {
    /**
     * The page that hosts show for the tool: the URI of a method with `@App`. Needs `apps()` of `@decorum/apps` among the
     * server's `plugins`.
     */
    readonly ui?: string | ToolUi;
  }
}

/** The `ui` of a tool as an object; undefined if it has none. */
export function uiOf({ ui }: JsonObject): ToolUi | undefined {
  return typeof ui === 'string' ? { resourceUri: ui } : (ui as ToolUi | undefined);
}

/** Whether the model may use the tool. */
export const isForModel = ({ visibility }: { readonly visibility?: readonly unknown[] | undefined }): boolean =>
  visibility?.includes('model') ?? true;

/** Adds `ui` to the `_meta` of an entry, unless it is empty. */
export function withUi(entry: JsonObject, ui: ToolUi): JsonObject {
  if (Object.keys(ui).length === 0) return entry;
  return { ...entry, _meta: { ...(entry['_meta'] as JsonObject | undefined), ui } };
}

/** The error for a wrong `ui`. */
export const wrongUi = (tool: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', `The tool "${tool}"`, 'ui', problem);

/**
 * The `ui` of a tool's options.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkUi(tool: string, options: JsonObject): ToolUi | undefined {
  const ui = uiOf(options);
  if (ui === undefined) return undefined;
  requireOptions(`The tool "${tool}" (ui)`, ui, { resourceUri: 'string', visibility: 'array' });
  const { resourceUri, visibility } = ui;
  const isKnown = visibility?.every((each) => each === 'model' || each === 'app') ?? true;
  if (!isKnown || visibility?.length === 0) throw wrongUi(tool, "has a `visibility` other than 'model' and 'app'");
  if (resourceUri === undefined && visibility === undefined) {
    throw wrongUi(tool, "is empty. Write `ui: 'ui://weather/card'`");
  }
  if (options['text'] === false && isForModel(ui)) {
    const problem = 'is false, but clients without apps get only text. Remove it, or write the text';
    throw startupError('DECORUM_INVALID_OPTION', `The tool "${tool}"`, 'text', problem);
  }
  return ui;
}
