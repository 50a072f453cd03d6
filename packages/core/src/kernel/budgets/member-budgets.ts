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
  Tool,
} from '../../protocol/model.js';
import { text } from '../../protocol/content.js';
import type { PromptPlan } from '../../registry/prompt-plan.js';
import type { ResourcePlan, TemplatePlan } from '../../registry/resource-plan.js';
import { partsOfPlan } from '../../registry/previews/plan-result.js';
import { errorResult } from '../../registry/results.js';
import type { ToolPlan } from '../../registry/tool-plan.js';
import { type Budget, budgetOf } from './budget.js';
import { limitBlocks } from './limit-blocks.js';
import { adviceFor, counted, inEnglish } from './losses.js';

const ASK_FOR_LESS = 'Ask for less, or for a part of it.';
const NO_PARTS = 'Ask for a part of it, if the server offers one.';

/** The budget of a tool with this maximum; undefined if it has none. */
export const toolBudget = (plan: ToolPlan, max: number | undefined): Budget<CallToolResult> | undefined =>
  budgetOf(max, (result, maxChars) => limitTool(result, maxChars, plan));

function limitTool(result: CallToolResult, max: number, { entry, hasPreview }: ToolPlan): CallToolResult {
  const { structuredContent, isError, ...others } = result;
  const advice = () => adviceFor(Object.keys(entry.inputSchema['properties'] ?? {}), ASK_FOR_LESS);
  const plan = hasPreview && partsOfPlan(result);
  if (plan) return limitPlan(result, plan, { max, advice });
  const json = structuredContent === undefined ? '' : (JSON.stringify(structuredContent) ?? '');
  if (json.length > max && isError !== true) {
    const size = `its result has ${counted(json.length, 'character')}, and ${inEnglish(max)} are allowed.`;
    const refusal = errorResult(`The call succeeded, but ${size}${warningOf(entry)} ${advice()}`);
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

/** Cuts a plan, but not its ticket. */
function limitPlan(
  result: CallToolResult,
  { others, how, least }: NonNullable<ReturnType<typeof partsOfPlan>>,
  { max, advice }: { readonly max: number; advice(): string },
): CallToolResult {
  const { structuredContent, ...rest } = result;
  const isTooLong = (JSON.stringify(structuredContent)?.length ?? 0) > max;
  const limited = limitBlocks(others, Math.max(0, max - how.text.length));
  if (!isTooLong && limited === undefined) return result;
  const kept = limited?.kept.filter((block) => block !== undefined) ?? others;
  const loss = limited ? [text(limited.losses.sentence(advice()))] : [];
  const data = isTooLong ? least : structuredContent;
  return { ...rest, content: [...kept, ...loss, how], ...(data !== undefined && { structuredContent: data }) };
}

/** A model takes an error for a call without effect, and repeats it. */
const warningOf = ({ annotations: { readOnlyHint, idempotentHint } = {} }: Tool): string =>
  readOnlyHint === true || idempotentHint === true ? '' : " Don't repeat it if it changes something.";

/** The budget of a prompt with this maximum; undefined if it has none. */
export const promptBudget = (plan: PromptPlan, max: number | undefined): Budget<GetPromptResult> | undefined =>
  budgetOf(max, (result, maxChars) => limitPrompt(result, maxChars, plan));

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

/** The budget of a resource or template with this maximum; undefined if it has none. */
export function resourceBudget(
  plan: ResourcePlan | TemplatePlan,
  max: number | undefined,
): Budget<ReadResourceResult> | undefined {
  const advice = () => adviceFor('template' in plan ? plan.variables : [], NO_PARTS);
  return budgetOf(max, (result, maxChars) => limitResource(result, maxChars, advice));
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
