import { UriTemplate } from '@decorum/uri-template';

import type { ResourceListing } from '../metadata/records.js';
import { excerpt, startupError } from '../protocol/errors.js';
import { isObject } from '../protocol/jsonrpc.js';
import { andThen } from '../protocol/maybe-promise.js';
import type { ReadResourceResult, Resource, ResourceTemplate } from '../protocol/model.js';
import type { CacheHint } from '../protocol/revisions/revision.js';
import type { Access } from '../protocol/wire.js';
import type { Shape } from '../schema/shape.js';
import { accessOf, type Caller, callerOf, checkCache, inputShape, listedFields, type Member, whereOf } from './plan.js';
import { collect, readBody } from './bodies.js';
import { isGenerator } from './generators.js';
import { refuseObjects, requireInput } from './prompt-plan.js';
import { type ResourceWording, toReadResourceResult } from './results.js';

/** What the variables of a template stand for in one URI. */
export type Variables = Readonly<Record<string, string | string[]>>;

interface Readable {
  readonly where: string;
  /** How long clients may keep what they read. */
  readonly cache: CacheHint;
  /** Who may see and read it; undefined where everybody may. */
  readonly access: Access | undefined;
  /** @throws {McpError} `unknown-resource` */
  read(uri: string, variables: Variables, caller: Caller): ReadResourceResult | Promise<ReadResourceResult>;
}

/** A resource with one fixed URI. */
export interface ResourcePlan extends Readable {
  readonly entry: Resource;
}

/** Tells the author of the server of an entry that was left out. */
export type Report = (error: Error) => void;

/** A family of resources. */
export interface TemplatePlan extends Readable {
  readonly entry: ResourceTemplate;
  readonly template: UriTemplate;
  readonly variables: readonly string[];
  /** What exists of the family, where a method enumerates it. */
  readonly list: ((caller: Caller, report: Report) => Promise<readonly Resource[]>) | undefined;
}

/** Clients may not keep it. */
export const NOT_KEPT: CacheHint = { ttlMs: 0, scope: 'private' };

type ResourceMember = Member<'resource'>;

/**
 * Compiles a resource, or a template where the URI has variables.
 * @throws {DecorumError} for an unusable URI, template, DTO or `list`
 */
export function compileResource(member: ResourceMember): ResourcePlan | TemplatePlan {
  checkFields(member);
  return UriTemplate.isTemplate(member.record.options.uri) ? compileTemplate(member) : compileFixed(member);
}

function checkFields(member: ResourceMember): void {
  const { annotations = {}, size = 0, cache } = member.record.options;
  const wrong = (option: string, problem: string) =>
    startupError('DECORUM_INVALID_OPTION', whereOf(member), option, problem);
  const { priority = 0, audience = [], lastModified } = annotations;
  if (!(priority >= 0 && priority <= 1)) throw wrong('annotations.priority', 'must be between 0 and 1');
  if (!audience.every((role) => role === 'user' || role === 'assistant')) {
    throw wrong('annotations.audience', 'must be a list of "user" and "assistant"');
  }
  if (lastModified !== undefined && Number.isNaN(Date.parse(lastModified))) {
    throw wrong('annotations.lastModified', 'must be a date and time (ISO 8601)');
  }
  if (!Number.isSafeInteger(size) || size < 0) throw wrong('size', 'must be a number of bytes');
  if (cache !== undefined) checkCache(cache, whereOf(member));
  if (accessOf(member) !== undefined && cache?.scope === 'public') {
    throw wrong('cache.scope', 'is "public", and not everybody may see it (`access`): make it "private"');
  }
}

function sharedFields(member: ResourceMember) {
  const { mimeType, annotations } = member.record.options;
  return {
    ...listedFields(member),
    ...(mimeType !== undefined && { mimeType }),
    ...(annotations !== undefined && { annotations }),
  };
}

function compileFixed(member: ResourceMember): ResourcePlan {
  const { uri, mimeType, size, list, cache } = member.record.options;
  const where = whereOf(member);
  const call = callerOf(member);
  // RFC 3986, section 3.1
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:./.test(uri)) throw startupError('DECORUM_BAD_URI', where, uri);
  if (list !== undefined)
    throw startupError('DECORUM_INVALID_OPTION', where, 'list', 'is for templates, and this URI has no variables');
  if (inputShape(member) !== undefined) {
    throw startupError(
      'DECORUM_INVALID_OPTION',
      where,
      'uri',
      'has no variables that could fill the parameter of the method',
    );
  }
  return {
    where,
    cache: cache ?? NOT_KEPT,
    access: accessOf(member),
    entry: { uri, ...sharedFields(member), ...(size !== undefined && { size }) },
    read: (_uri, _variables, caller) =>
      andThen(call({}, caller), (value) => finish(value, uri, { where, mimeType, caller })),
  };
}

function compileTemplate(member: ResourceMember): TemplatePlan {
  const { options } = member.record;
  const where = whereOf(member);
  const call = callerOf(member);
  const template = parseTemplate(options.uri, where);
  const input = inputShape(member);
  if (input) compareVariables(template, input, where);
  if (input) refuseObjects(input, where);
  if (options.size !== undefined)
    throw startupError('DECORUM_INVALID_OPTION', where, 'size', 'is for fixed URIs, and this one has variables');
  return {
    where,
    cache: options.cache ?? NOT_KEPT,
    access: accessOf(member),
    template,
    variables: template.variables,
    entry: { uriTemplate: options.uri, ...sharedFields(member) },
    list: options.list === undefined ? undefined : compileList(member, options.list, template),
    read: (uri, variables, caller) =>
      andThen(input?.checkStrings(variables), (checked) =>
        andThen(call(checked ? requireInput(checked) : variables, caller), (value) =>
          finish(value, uri, { where, mimeType: options.mimeType, caller }),
        ),
      ),
  };
}

/** Reads what the method returned, where it must be read first, and makes contents of it. */
function finish(
  value: unknown,
  uri: string,
  { caller, ...wording }: ResourceWording & { readonly caller: Caller },
): ReadResourceResult | Promise<ReadResourceResult> {
  const isObject = typeof value === 'object' && value !== null;
  const reading = isObject
    ? (readBody(value, caller) ?? (isGenerator(value) ? collect(value, caller) : undefined))
    : undefined;
  return andThen(reading ?? value, (body) => toReadResourceResult(body, uri, wording));
}

function parseTemplate(text: string, where: string): UriTemplate {
  let template: UriTemplate;
  try {
    template = new UriTemplate(text);
  } catch (error) {
    throw startupError('DECORUM_BAD_TEMPLATE', where, text, (error as Error).message);
  }
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) throw startupError('DECORUM_BAD_URI', where, text);
  return template;
}

function compareVariables({ variables }: UriTemplate, { fields }: Shape, where: string): void {
  for (const variable of variables) {
    if (!fields.has(variable)) throw startupError('DECORUM_TEMPLATE_VARIABLE', where, variable, fields.keys());
  }
  for (const [field, { required }] of fields) {
    if (required && !variables.includes(field)) throw startupError('DECORUM_TEMPLATE_FIELD', where, field, variables);
  }
}

function compileList(member: ResourceMember, key: string, template: UriTemplate): TemplatePlan['list'] {
  const methods = member.instance as Record<string, (caller: Caller) => unknown>;
  if (key === 'constructor' || typeof methods[key] !== 'function')
    throw startupError('DECORUM_DANGLING_LIST', whereOf(member), key);
  const { mimeType, annotations } = member.record.options;
  const shared = { ...(mimeType !== undefined && { mimeType }), ...(annotations && { annotations }) };
  const lister = `${member.cls.name}.${key}`;
  return async (caller, report) => {
    const listings = await (methods[key] as (caller: Caller) => unknown)(caller);
    if (listings instanceof Error) throw listings;
    if (!isIterable(listings)) {
      throw new Error(
        `${lister} returned ${listings === null ? 'null' : typeof listings}. Return a list of resources.`,
      );
    }
    const resources: Resource[] = [];
    for await (const listing of listings) {
      try {
        resources.push(toResource(listing, template, shared));
      } catch (error) {
        report(new Error(`${lister} lists an entry that is left out: ${(error as Error).message}`));
      }
    }
    return resources;
  };
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

const TEXT_FIELDS = ['name', 'title', 'description', 'mimeType'] as const;

/** @throws {Error} for what clients could not read */
function toResource(listing: unknown, template: UriTemplate, shared: Partial<Resource>): Resource {
  const given = typeof listing === 'string' ? { uri: listing } : listing;
  const { variables, uri: own, ...fields } = (isObject(given) ? given : {}) as Partial<ResourceListing & Resource>;
  if (own === undefined && !isObject(variables)) {
    throw new Error(`${excerpt(listing)} is no URI and has neither \`uri\` nor \`variables\`.`);
  }
  const uri = own ?? template.expand(variables ?? {});
  if (typeof uri !== 'string' || template.match(uri) === undefined) {
    throw new Error(`the URI ${excerpt(uri)} does not match the template, so nobody could read it.`);
  }
  const entry = { uri, name: uri, ...shared, ...fields };
  const wrong = TEXT_FIELDS.find((field) => !['string', 'undefined'].includes(typeof entry[field]));
  if (wrong !== undefined) throw new Error(`the \`${wrong}\` of ${excerpt(uri)} is no text.`);
  return entry;
}
