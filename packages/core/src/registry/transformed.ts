import { andThen, compileShape, invalidOption, isObject, type JsonObject } from '@decorum/schema/internal';
import { type TemplateValue, UriTemplate } from '@decorum/uri-template';

import type {
  CallToolResult,
  GetPromptResult,
  Prompt,
  PromptArgument,
  ReadResourceResult,
  Resource,
  Tool,
} from '../protocol/model.js';
import { REVISIONS } from '../protocol/revisions/index.js';
import type { Need } from '../protocol/scopes.js';
import type { Change, TransformedMember } from './change.js';
import { requireChange } from './check-change.js';
import { parsedAliases } from './aliases.js';
import { noticing } from './deprecation.js';
import { everyAccess } from './every-access.js';
import type { Caller } from './caller.js';
import { given, type Plan, requireName } from './plan.js';
import type { PromptPlan } from './prompt-plan.js';
import { parsedTemplate, type ResourcePlan, type TemplatePlan } from './resource-plan.js';
import type { ToolDefaults, ToolPlan } from './tool-plan.js';
import { orPlan } from './previews/plan-output.js';
import { propertiesOf, withoutArguments } from './without-arguments.js';

/** A compiled member of any kind. */
export type AnyPlan = ToolPlan | PromptPlan | ResourcePlan | TemplatePlan;

/** The kind of a compiled member. */
export function kindOf(plan: AnyPlan): TransformedMember['kind'] {
  if ('mirrored' in plan) return 'tool';
  return 'run' in plan ? 'prompt' : 'template' in plan ? 'template' : 'resource';
}

/** What a changed plan depends on. */
export interface ChangeParts {
  readonly change: Change;
  /** Put before a new name. */
  readonly prefix: string;
  /** What extensions make of tools. */
  readonly extended?: ToolDefaults['extended'];
}

/**
 * A compiled member with a change: the same plan, with another entry and another name, whose calls pass what is fixed.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a change that the member can't have
 */
export function transformed(plan: AnyPlan, parts: ChangeParts): AnyPlan {
  const where = `${plan.where} (transform)`;
  requireChange(parts.change, kindOf(plan), where);
  const all = { ...parts, where };
  if ('mirrored' in plan) return changedTool(plan, all);
  if ('run' in plan) return changedPrompt(plan, all);
  const { access, scopes, result } = parts.change;
  const isPersonal = access !== undefined || scopes !== undefined || result !== undefined;
  const cache = isPersonal ? ({ ...plan.cache, scope: 'private' } as const) : plan.cache;
  return 'template' in plan ? changedTemplate({ ...plan, cache }, all) : changedResource({ ...plan, cache }, all);
}

interface Parts extends ChangeParts {
  readonly where: string;
}

/** The guards and the entry of a changed plan. */
function changedPlan<P extends AnyPlan>(plan: P, { change, prefix, where }: Parts): P {
  const { name, annotations, description, aliases = [] } = change;
  const entry = {
    ...plan.entry,
    ...given(change, ['title']),
    ...(description !== undefined && { description: noticing(description, plan.deprecated) }),
    ...(name !== undefined && { name: prefix + name }),
    ...(annotations && { annotations: { ...(plan.entry as Resource).annotations, ...annotations } }),
  };
  const tags = [...new Set([...(plan.tags ?? []), ...(change.tags ?? [])])];
  return {
    ...plan,
    entry,
    // a former name may be the name again
    aliases: [
      ...(plan.aliases ?? []).filter((alias) => alias.name !== entry.name),
      ...parsedAliases(aliases, { own: entry.name.slice(prefix.length), prefix, where }),
    ],
    ...(change.listed !== undefined && { isUnlisted: change.listed ? undefined : true }),
    access: everyAccess([plan.access, change.access]),
    need: needOf(plan, change, where),
    tags: tags.length > 0 ? tags : undefined,
  };
}

function needOf({ need }: Plan<unknown>, { scopes: added = [] }: Change, where: string): Need | undefined {
  if (added.length === 0) return need;
  if (need?.isPublic) throw invalidOption(where, 'scopes', 'are given, but the member is `public`. Remove one of them');
  return { scopes: [...new Set([...(need?.scopes ?? []), ...added])], isPublic: false };
}

/** What every result of a kind has. */
const RESULTS = { tool: 'content', prompt: 'messages', resource: 'contents', template: 'contents' } as const;

/** Passes a result through the change's function. */
function changedResult<R extends CallToolResult | GetPromptResult | ReadResourceResult>(
  result: R,
  plan: AnyPlan,
  { parts, caller }: { parts: Parts; caller: Caller },
) {
  const { change, where } = parts;
  if (change.result === undefined) return result;
  return andThen(change.result(result, caller), (changed): R => {
    const kind = kindOf(plan);
    if (isObject(changed) && Array.isArray(changed[RESULTS[kind]])) return changed as R;
    throw new Error(`${where}: \`result\` did not return the result of a ${kind}: "${RESULTS[kind]}" is missing.`);
  });
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for a fixed argument that the member doesn't have */
function requireKnown(fix: JsonObject, known: readonly string[], where: string): void {
  const unknown = Object.keys(fix).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const list = known.map((name) => `"${name}"`).join(', ') || 'none';
  throw invalidOption(where, 'fix', `has "${unknown}", which is no argument. Use the known ones: ${list}`);
}

function changedTool(plan: ToolPlan, parts: Parts): ToolPlan {
  const { change, where, extended } = parts;
  const { fix = {}, outputSchema } = change;
  const { check } = plan;
  const names = Object.keys(fix);
  const changed = changedPlan(plan, parts);
  const { outputSchema: own, ...rest } = changed.entry;
  const replaced = outputSchema && plan.hasPreview ? orPlan(outputSchema) : outputSchema;
  const output = replaced === undefined ? own : replaced;
  if (names.length > 0) requireFixed(plan.entry.inputSchema, fix, where);
  const inputSchema =
    names.length === 0
      ? rest.inputSchema
      : withoutArguments(rest.inputSchema, names, (problem) => invalidOption(where, 'fix', problem));
  const entry: Tool = { ...rest, inputSchema, ...(output && { outputSchema: output }) };
  requireName(entry.name, where);
  return {
    ...changed,
    key: entry.name,
    entry,
    extras: plan.extras && (extended ? extended.extrasOf(entry, plan.extras.options) : plan.extras),
    mirrored: plan.mirrored.filter(({ path: [name = ''] }) => !names.includes(name)),
    sendsObjects: REVISIONS.map((revision) => revision.sendsObjects(entry)),
    ...(check && { check: (args) => check({ ...args, ...fix }) }),
    run: (args, caller) =>
      andThen(plan.run({ ...args, ...fix }, caller), (result) => changedResult(result, plan, { parts, caller })),
  };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for a fixed argument that is unknown, or that the tool rejects */
function requireFixed(schema: JsonObject, fix: JsonObject, where: string): void {
  const properties = propertiesOf(schema);
  requireKnown(fix, Object.keys(properties), where);
  const { $defs = {}, definitions = {} } = schema;
  const fixed = Object.fromEntries(Object.keys(fix).map((name) => [name, properties[name]]));
  let shape;
  try {
    shape = compileShape({ type: 'object', properties: fixed, $defs, definitions }, where);
  } catch {
    // a schema of another server that can't be compiled: that server will check the value
    return;
  }
  const checked = shape.check(fix);
  if (checked instanceof Promise || checked.ok) return;
  const problems = checked.problems.map(({ path, expected }) => `${path} ${expected}`).join('; ');
  throw invalidOption(where, 'fix', `does not fit the schema: ${problems}. Correct the value`);
}

function changedPrompt(plan: PromptPlan, parts: Parts): PromptPlan {
  const { change, where } = parts;
  const { fix = {}, description } = change;
  requireKnown(fix, plan.variables, where);
  const wrong = Object.keys(fix).find((name) => typeof fix[name] !== 'string');
  if (wrong !== undefined) throw invalidOption(where, 'fix', `has "${wrong}", which is not a string. Pass a string`);
  const changed = changedPlan(plan, parts);
  const isLeft = ({ name }: PromptArgument) => !Object.hasOwn(fix, name);
  const entry: Prompt = {
    ...changed.entry,
    ...(plan.entry.arguments && { arguments: plan.entry.arguments.filter(isLeft) }),
  };
  requireName(entry.name, where);
  return {
    ...changed,
    key: entry.name,
    entry,
    ...leftOf(plan, fix),
    run: (args, caller) =>
      andThen(plan.run({ ...args, ...fix }, caller), (result) => {
        const isListed = description !== undefined && result.description === plan.entry.description;
        return changedResult(isListed ? { ...result, ...given(entry, ['description']) } : result, plan, {
          parts,
          caller,
        });
      }),
  };
}

/** What is left of the arguments. Completions get to know the fixed ones. */
const leftOf = ({ variables, fixed }: PromptPlan | TemplatePlan, fix: JsonObject) => ({
  variables: variables.filter((name) => !Object.hasOwn(fix, name)),
  fixed: { ...fixed, ...fix },
});

const changedResource = (plan: ResourcePlan, parts: Parts): ResourcePlan => ({
  ...changedPlan(plan, parts),
  read: (uri, variables, caller) =>
    andThen(plan.read(uri, variables, caller), (result) => changedResult(result, plan, { parts, caller })),
});

function changedTemplate(plan: TemplatePlan, parts: Parts): TemplatePlan | ResourcePlan {
  const { where, change } = parts;
  const fix = (change.fix ?? {}) as Readonly<Record<string, TemplateValue>>;
  requireKnown(change.fix ?? {}, plan.variables, where);
  const changed = changedPlan(plan, parts);
  const text = partlyExpanded(plan.key, fix);
  const template = parsedTemplate(text, where);
  const read: TemplatePlan['read'] = (uri, variables, caller) => {
    const all = { ...variables, ...fix } as typeof variables;
    const own = text === plan.key ? uri : plan.template.expand(all);
    return andThen(plan.read(own, all, caller), (result) =>
      changedResult(own === uri ? result : renamed(result, own, uri), plan, { parts, caller }),
    );
  };
  const { list, completions, template: _own, ...shared } = { ...changed, ...leftOf(plan, fix), key: text, read };
  const { uriTemplate: _text, ...fields } = changed.entry;
  if (!UriTemplate.isTemplate(text)) return { ...shared, entry: { ...fields, uri: text } };
  return {
    ...shared,
    entry: { ...changed.entry, uriTemplate: text },
    template,
    completions,
    list:
      list && (async (caller, report) => (await list(caller, report)).flatMap(listed(plan.template, template, fix))),
  };
}

/** Contents of a URI, as those of another. */
const renamed = (result: ReadResourceResult, from: string, to: string): ReadResourceResult => ({
  ...result,
  contents: result.contents.map((each) => (each.uri === from ? { ...each, uri: to } : each)),
});

/** A template whose expressions lack the fixed variables. An expression of fixed ones alone is expanded. */
function partlyExpanded(text: string, fix: Readonly<Record<string, TemplateValue>>): string {
  return text.replaceAll(/\{([^{}]*)\}/g, (expression: string, inner: string) => {
    const [operator = ''] = /^[^\w%]/.exec(inner) ?? [];
    const all = inner.slice(operator.length).split(',');
    const left = all.filter((variable) => !Object.hasOwn(fix, variable.replace(/\*$|:\d+$/, '')));
    if (left.length === all.length) return expression;
    return left.length > 0 ? `{${operator}${left.join(',')}}` : new UriTemplate(expression).expand(fix);
  });
}

/** Lists resources whose variables have the fixed values, with the URIs of the new template. */
function listed(from: UriTemplate, to: UriTemplate, fix: Readonly<Record<string, TemplateValue>>) {
  return (entry: Resource): readonly Resource[] => {
    const variables = from.match(entry.uri);
    if (variables === undefined || Object.keys(fix).some((name) => String(variables[name]) !== String(fix[name]))) {
      return [];
    }
    const uri = to.expand(variables);
    return [{ ...entry, uri, name: entry.name === entry.uri ? uri : entry.name }];
  };
}
