import { isObject, type JsonObject } from '@decorum/schema/internal';

import type { Root } from '../protocol/model.js';
import type { Revision } from '../protocol/revisions/revision.js';

// Validation of the client's answers (MCP, `CreateMessageResult`, `ListRootsResult`, `ElicitResult`).

/** Checks by field. Fields unknown to the specification are allowed. */
type Fields = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): value is string => typeof value === 'string';

const optional = (fits: (value: unknown) => boolean) => (value: unknown) => value === undefined || fits(value);

/** Base64 with its padding (RFC 4648, section 4). */
const isBase64 = (value: unknown) => isText(value) && value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value);

/** Whether a value is the role of a message. */
export const isRole = (value: unknown) => value === 'user' || value === 'assistant';

/** The first field that is missing or invalid. */
const wrongIn = (object: JsonObject, fields: Fields): string | undefined =>
  Object.entries(fields).find(([name, fits]) => !fits(object[name]))?.[0];

const META: Fields = { _meta: optional(isObject) };

const ANNOTATIONS: Fields = {
  audience: optional((value) => Array.isArray(value) && value.every(isRole)),
  priority: optional((value) => typeof value === 'number' && value >= 0 && value <= 1),
  lastModified: optional(isText),
};

const BLOCK: Fields = {
  ...META,
  annotations: optional((value) => isObject(value) && wrongIn(value, ANNOTATIONS) === undefined),
};

const BLOCKS: Readonly<Record<string, Fields>> = {
  text: { text: isText, ...BLOCK },
  image: { data: isBase64, mimeType: isText, ...BLOCK },
  audio: { data: isBase64, mimeType: isText, ...BLOCK },
  tool_use: { id: isText, name: isText, input: isObject, ...META },
  tool_result: { toolUseId: isText, content: Array.isArray, ...META },
};

/** Kinds of blocks that a sampling request may have. */
const KINDS: readonly string[] = Object.keys(BLOCKS);

/**
 * The first invalid field of a block in a sampling request or result.
 * @returns undefined if the block is valid
 */
export function wrongInBlock(block: unknown, kinds = KINDS): string | undefined {
  const fields = isObject(block) ? BLOCKS[kinds.find((kind) => kind === block['type']) ?? ''] : undefined;
  return fields === undefined ? 'type' : wrongIn(block as JsonObject, fields);
}

const SAMPLED: Fields = { role: isRole, model: isText, stopReason: optional(isText), ...META };

/**
 * The first invalid field of a sampling result, by the rules of a revision.
 * @returns undefined if the result is valid
 */
export function wrongInSample(answer: JsonObject, { sampledKinds: kinds }: Revision): string | undefined {
  const { content } = answer;
  const wrong = wrongIn(answer, SAMPLED);
  if (wrong !== undefined) return wrong;
  // lists of blocks were introduced together with tool use
  const isOne = !Array.isArray(content);
  const blocks: readonly unknown[] = isOne ? [content] : content;
  if (blocks.length === 0 || !(isOne || kinds.includes('tool_use'))) return 'content';
  for (const block of blocks) {
    const field = wrongInBlock(block, kinds);
    if (field !== undefined) return `content.${field}`;
  }
  return undefined;
}

const ROOT: Fields = {
  uri: (value) => isText(value) && value.startsWith('file://') && URL.canParse(value),
  name: optional(isText),
  ...META,
};

/** Whether an answer is a valid list of roots. */
export function listsRoots(answer: JsonObject): answer is { roots: readonly Root[] } & JsonObject {
  const { roots } = answer;
  return Array.isArray(roots) && roots.every((root) => isObject(root) && wrongIn(root, ROOT) === undefined);
}

/** The user's response to a form or a URL. */
export interface Elicited extends JsonObject {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: unknown;
}

/** Whether an answer has a valid `action`. */
export const isElicited = (answer: JsonObject): answer is Elicited =>
  ['accept', 'decline', 'cancel'].includes(answer['action'] as string);
