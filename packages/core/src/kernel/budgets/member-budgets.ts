import { McpError } from '../../protocol/errors.js';
import { FAILURE_CAUSE, withFailureCause } from '../../protocol/failure-cause.js';
import type {
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  GetPromptResult,
  PromptMessage,
  ReadResourceResult,
  ResourceContents,
} from '../../protocol/model.js';
import { text } from '../../protocol/content.js';
import type { PromptPlan } from '../../registry/prompt-plan.js';
import type { ResourcePlan, TemplatePlan } from '../../registry/resource-plan.js';
import { errorResult } from '../../registry/results.js';
import type { ToolPlan } from '../../registry/tool-plan.js';
import { type Budget, maximumOf } from './budget.js';
import { limitBlocks } from './limit-blocks.js';
import { adviceFor, counted, inEnglish } from './losses.js';

/** What a server has for all its members. */
interface Shared {
  readonly maxResultChars?: number | undefined;
}

const ASK_FOR_LESS = 'Ask for less, or for a part of it.';
const NO_PARTS = 'Ask for a part of it, if the server offers one.';

/** The budget of a tool; undefined if it has none. */
export function toolBudget(plan: ToolPlan, shared: Shared): Budget<CallToolResult> | undefined {
  const maxChars = maximumOf(plan, shared);
  if (maxChars === undefined) return undefined;
  return { maxChars, limit: (result) => limitTool(result, maxChars, plan) };
}

function limitTool(result: CallToolResult, max: number, { entry }: ToolPlan): CallToolResult {
  const { structuredContent, isError, ...others } = result;
  const advice = () => adviceFor(Object.keys(entry.inputSchema['properties'] ?? {}), ASK_FOR_LESS);
  const json = structuredContent === undefined ? '' : (JSON.stringify(structuredContent) ?? '');
  if (json.length > max && isError !== true) {
    const size = `The result has ${counted(json.length, 'character')}, and ${inEnglish(max)} are allowed.`;
    const refusal = errorResult(`${size} ${advice()}`);
    return Object.assign({ ...others, ...refusal }, { [FAILURE_CAUSE]: 'limit' });
  }
  const limited = limitBlocks(result.content, max);
  // the text of an error says what its data say
  const sent = json.length > max ? { ...others, isError } : result;
  if (limited === undefined) return sent as CallToolResult;
  const content = limited.kept.filter((block) => block !== undefined);
  return {
    ...sent,
    content: [...content, text(limited.losses.sentence(isError === true ? '' : advice()))],
  } as CallToolResult;
}

/** The budget of a prompt; undefined if it has none. */
export function promptBudget(plan: PromptPlan, shared: Shared): Budget<GetPromptResult> | undefined {
  const maxChars = maximumOf(plan, shared);
  if (maxChars === undefined) return undefined;
  return { maxChars, limit: (result) => limitPrompt(result, maxChars, plan) };
}

function limitPrompt(result: GetPromptResult, max: number, { variables }: PromptPlan): GetPromptResult {
  const limited = limitBlocks(
    result.messages.map(({ content }) => content),
    max,
  );
  if (limited === undefined) return result;
  const messages = result.messages.flatMap((message, index): PromptMessage[] => {
    const content: ContentBlock | undefined = limited.kept[index];
    return content === undefined ? [] : [{ ...message, content }];
  });
  const sentence = limited.losses.sentence(adviceFor(variables, ASK_FOR_LESS));
  return { ...result, messages: [...messages, { role: 'user', content: text(sentence) }] };
}

/** The budget of a resource or template; undefined if it has none. */
export function resourceBudget(
  plan: ResourcePlan | TemplatePlan,
  shared: Shared,
): Budget<ReadResourceResult> | undefined {
  const maxChars = maximumOf(plan, shared);
  if (maxChars === undefined) return undefined;
  const advice = () => adviceFor('template' in plan ? plan.variables : [], NO_PARTS);
  return { maxChars, limit: (result) => limitResource(result, maxChars, advice) };
}

/**
 * Cuts text. Anything else is for programs, which would take a part of it for the whole.
 * @throws {McpError}
 */
function limitResource(result: ReadResourceResult, max: number, advice: () => string): ReadResourceResult {
  const { contents } = result;
  const limited = limitBlocks(
    contents.map((resource) => ({ type: 'resource', resource })),
    max,
  );
  if (limited === undefined) return result;
  const { kept, cutAt, losses } = limited;
  if (losses.leftOut !== undefined) {
    const problem = `Too long to send, and not safe to cut: ${losses.leftOut}. Up to ${inEnglish(max)} are allowed.`;
    throw withFailureCause(new McpError('internal-error', `${problem} ${advice()}`), 'limit');
  }
  const left = contents.flatMap((each, index): ResourceContents[] => {
    const { text: part = '' } = (kept[index] as EmbeddedResource | undefined)?.resource ?? {};
    if (index === cutAt) return [{ ...each, text: `${part}${part && '\n\n'}${losses.sentence(advice())}` }];
    return kept[index] === undefined ? [] : [each];
  });
  return { ...result, contents: left };
}
