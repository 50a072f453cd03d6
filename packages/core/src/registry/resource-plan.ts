import { UriTemplate } from '@decorum/uri-template';
import { andThen, excerpt, invalidOption, isObject, type JsonObject, type Shape } from '@decorum/schema/internal';

import type { ResourceListing } from '../metadata/records.js';
import { startupError } from '../protocol/errors.js';
import type { ReadResourceResult, Resource, ResourceContents, ResourceTemplate } from '../protocol/model.js';
import type { CacheHint } from '../protocol/revisions/revision.js';
import type { Completable } from './completion-plan.js';
import { stringInvoker } from './invoker.js';
import type { Caller } from './caller.js';
import {
  accessOf,
  checkCache,
  given,
  guardsOf,
  inputShape,
  listedFields,
  type Member,
  needOf,
  type Plan,
} from './plan.js';
import { policyOf } from './policies/policies.js';
import type { PolicyDefaults } from './policies/policy.js';
import { collect, readBody } from './bodies.js';
import { isGenerator } from './generators.js';
import { type ResourceEncoding, toReadResourceResult } from './results.js';

/** Values of a template's variables in one URI. */
export type Variables = Readonly<Record<string, string | string[]>>;

/** What an extension makes of a resource. */
export interface ExtendedResource {
  /** `_meta` of its list entry. */
  readonly meta: JsonObject;
  /** Changes each of its contents. */
  contents(given: ResourceContents): ResourceContents;
}

/** What extensions make of resources. */
export interface ResourceDefaults {
  /** What they make of a resource; undefined if nothing. */
  resource(uri: string, options: JsonObject): ExtendedResource | undefined;
}

interface Readable {
  /** What an extension makes of it; undefined if nothing. */
  readonly extra: ExtendedResource | undefined;
  /** How long clients may cache the content. */
  readonly cache: CacheHint;
  /** @throws {McpError} `unknown-resource` */
  read(uri: string, variables: Variables, caller: Caller): ReadResourceResult | Promise<ReadResourceResult>;
  /** Forgets what is kept of a URI. Undefined if nothing is. */
  readonly forget?: ((uri: string) => void) | undefined;
}

/** A resource with one fixed URI. */
export type ResourcePlan = Plan<Resource> & Readable;

/** Tells the server's operator which entries were left out of a list. */
export type Report = (problem: string) => void;

/** A compiled resource template. */
export interface TemplatePlan extends Plan<ResourceTemplate>, Readable, Completable {
  readonly template: UriTemplate;
  /** Lists the existing resources. Undefined without a `list` method. */
  readonly list: ((caller: Caller, report: Report) => Promise<readonly Resource[]>) | undefined;
}

/** The plan that serves a URI. */
export interface ResourceMatch {
  readonly plan: ResourcePlan | TemplatePlan;
  readonly variables: Variables;
}

/** No caching. */
export const NO_CACHE: CacheHint = { ttlMs: 0, scope: 'private' };

type ResourceMember = Member<'resource'>;

/**
 * Compiles a resource, or a template if its URI has variables.
 * @throws {DecorumError} for an invalid URI, template, DTO or `list`
 */
export function compileResource(
  member: ResourceMember,
  extended?: ResourceDefaults,
  defaults: PolicyDefaults = {},
): ResourcePlan | TemplatePlan {
  const { options, where } = member;
  const { uri, mimeType, cache = NO_CACHE, _meta: own } = options;
  const template = templateOf(uri, where);
  checkOptions(member, template !== undefined);
  const input = inputShape(member);
  const call = stringInvoker(member, input);
  const extra = extended?.resource(uri, options as unknown as JsonObject);
  const fields = {
    ...listedFields(member),
    ...given(options, ['mimeType', 'annotations', 'size']),
    ...(extra && { _meta: { ...own, ...extra.meta } }),
  };
  const change = (result: ReadResourceResult) =>
    extra ? { ...result, contents: result.contents.map((each) => extra.contents(each)) } : result;
  const read: Readable['read'] = (asked, variables, caller) =>
    andThen(call(variables, caller), (value) => andThen(finish(value, asked, { where, mimeType, caller }), change));
  const shared = {
    key: uri,
    where,
    ...guardsOf(member),
    // an extension's resource is a page for the client, not text for the model
    ...(extra && options.maxResultChars === undefined && { maxResultChars: Number.POSITIVE_INFINITY }),
    cache,
    extra,
    ...governed(read, member, defaults),
  };
  if (template === undefined) {
    if (input) {
      const problem =
        'has no variables, but the method has an input parameter. Add variables in braces, as in "docs://{id}", or remove the parameter';
      throw invalidOption(where, 'uri', problem);
    }
    return { ...shared, entry: { uri, ...fields } };
  }
  if (input) compareVariables(template, input, where);
  return {
    ...shared,
    entry: { uriTemplate: uri, ...fields },
    template,
    variables: template.variables,
    completions: new Map(),
    list: compileList(member, template),
  };
}

/** The reader with the policies of the member. */
function governed(
  read: Readable['read'],
  member: ResourceMember,
  defaults: PolicyDefaults,
): Pick<Readable, 'read' | 'forget'> {
  let forget: Readable['forget'];
  const onUpdate = (callback: (uri: string) => void) => (forget = callback);
  const policy = policyOf({ where: member.where, record: member, defaults, onUpdate });
  if (policy === undefined) return { read };
  return {
    forget,
    read: (uri, variables, caller) =>
      policy({ args: { uri, variables }, caller }, (inner) => read(uri, variables, inner)),
  };
}

/** Converts the method's result to contents, after reading it if it is a body or stream. */
function finish(
  value: unknown,
  uri: string,
  { caller, ...encoding }: ResourceEncoding & { readonly caller: Caller },
): ReadResourceResult | Promise<ReadResourceResult> {
  if (typeof value !== 'object' || value === null) return toReadResourceResult(value, uri, encoding);
  const reading = readBody(value, caller) ?? (isGenerator(value) ? collect(value, caller) : undefined);
  return andThen(reading ?? value, (body) => toReadResourceResult(body, uri, encoding));
}

/** Characters of a URI (RFC 3986, section 2). */
const URI_TEXT = /^(?:[\w!#$&'()*+,./:;=?@[\]~-]|%[0-9a-f]{2})*$/i;

/** A variable in the syntax of web routers or template literals. */
const MISSPELT_VARIABLE = /\$\{(\w+)\}|<(\w+)>|\[(\w+)\]|(?<=\/):([a-z_]\w*)/gi;

/** A replacement for a URI or template that clients would alter; undefined if it needs none. */
function corrected(uri: string): string | undefined {
  const braced = uri.replaceAll(MISSPELT_VARIABLE, (...[, ...names]) => `{${names.slice(0, 4).join('')}}`);
  if (braced !== uri && !/^\w+:\/\/\[[0-9a-f]+\]/i.test(uri)) return braced;
  if (UriTemplate.isTemplate(uri) || (URI_TEXT.test(uri) && URL.canParse(uri))) return undefined;
  const encoded = encodeURI(uri);
  return encoded !== uri && URL.canParse(encoded) ? encoded : 'docs://readme';
}

/**
 * Parses a URI template; undefined for a fixed URI.
 * @throws {DecorumError} `DECORUM_BAD_URI`, `DECORUM_BAD_TEMPLATE`
 */
function templateOf(uri: string, where: string): UriTemplate | undefined {
  // RFC 3986, section 3.1
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:./.test(uri)) throw startupError('DECORUM_BAD_URI', where, uri);
  const right = corrected(uri);
  if (right !== undefined) throw startupError('DECORUM_BAD_URI', where, uri, `Write "${right}"`);
  return UriTemplate.isTemplate(uri) ? parsedTemplate(uri, where) : undefined;
}

/** @throws {DecorumError} `DECORUM_BAD_TEMPLATE` */
export function parsedTemplate(text: string, where: string): UriTemplate {
  try {
    return new UriTemplate(text);
  } catch (error) {
    throw startupError('DECORUM_BAD_TEMPLATE', where, text, (error as Error).message);
  }
}

/** Rejects annotations and sizes that clients would reject. */
function checkDetails(
  { annotations = {}, size }: Partial<Pick<Resource, 'annotations' | 'size'>>,
  wrong: (field: string, problem: string) => Error,
): void {
  const { priority = 0, audience = [], lastModified } = annotations;
  if (!(priority >= 0 && priority <= 1)) throw wrong('annotations.priority', 'must be a number from 0 to 1');
  if (!Array.isArray(audience) || !audience.every((role) => role === 'user' || role === 'assistant')) {
    throw wrong('annotations.audience', 'must be an array of "user" and "assistant"');
  }
  if (lastModified !== undefined && Number.isNaN(Date.parse(lastModified))) {
    throw wrong('annotations.lastModified', 'must be an ISO 8601 date and time, such as "2026-01-31T12:00:00Z"');
  }
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0)) {
    throw wrong('size', 'must be a non-negative integer (bytes)');
  }
}

function checkOptions(member: ResourceMember, isTemplate: boolean): void {
  const { size, list, cache } = member.options;
  const wrong = (option: string, problem: string) => invalidOption(member.where, option, problem);
  checkDetails(member.options, wrong);
  if (size !== undefined && isTemplate)
    throw wrong('size', 'applies to fixed URIs only, but this one has variables. Remove it');
  if (list !== undefined && !isTemplate)
    throw wrong('list', 'applies to templates only, but this URI has no variables. Remove it');
  if (cache !== undefined) checkCache(cache, member.where);
  const guard = accessOf(member) ? 'access' : needOf(member)?.isPublic === false ? 'scopes' : undefined;
  if (guard !== undefined && cache?.scope === 'public') {
    throw wrong('cache.scope', `is "public", but \`${guard}\` restricts who may read it. Make it "private"`);
  }
}

function compareVariables({ variables }: UriTemplate, { fields }: Shape, where: string): void {
  for (const variable of variables) {
    if (!fields.has(variable)) throw startupError('DECORUM_TEMPLATE_VARIABLE', where, variable, fields.keys());
  }
  for (const [field, { required }] of fields) {
    if (required && !variables.includes(field)) throw startupError('DECORUM_TEMPLATE_FIELD', where, field, variables);
  }
}

function compileList({ options, methods, where, cls }: ResourceMember, template: UriTemplate): TemplatePlan['list'] {
  const { list: key } = options;
  if (key === undefined) return undefined;
  const listers = methods as Readonly<Record<string, (caller: Caller) => unknown>>;
  if (key === 'constructor' || typeof listers[key] !== 'function') {
    throw startupError('DECORUM_DANGLING_LIST', where, key);
  }
  const shared = given(options, ['mimeType', 'annotations']);
  const lister = `${cls.name}.${key}`;
  return async (caller, report) => {
    const listings = await listers[key]?.(caller);
    if (listings instanceof Error) throw listings;
    if (!isIterable(listings)) {
      const found = listings === null ? 'null' : typeof listings;
      throw new Error(`${lister} returned ${found}. Return an array of resources.`);
    }
    const resources: Resource[] = [];
    const problems: string[] = [];
    for await (const listing of listings) {
      try {
        resources.push(toResource(listing, template, shared));
      } catch (error) {
        problems.push((error as Error).message);
      }
    }
    // report all of them in one line, because clients may list often
    if (problems.length > 0)
      report(
        `${lister} returned invalid entries (${problems.length}), which were left out of the list. The first: ${problems[0]}`,
      );
    return resources;
  };
}

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && (Symbol.iterator in value || Symbol.asyncIterator in value);

const TEXT_FIELDS = ['name', 'title', 'description', 'mimeType'] as const;

/** @throws {Error} for an entry that clients can't read */
function toResource(listing: unknown, template: UriTemplate, shared: Partial<Resource>): Resource {
  const listed = typeof listing === 'string' || listing instanceof URL ? { uri: listing } : listing;
  const {
    variables,
    uri: listedUri,
    ...fields
  } = (isObject(listed) ? listed : {}) as Partial<ResourceListing & Resource>;
  const own = (listedUri as unknown) instanceof URL ? String(listedUri) : listedUri;
  if (own === undefined && !isObject(variables)) {
    throw new Error(`${excerpt(listing)} is not a URI and has neither \`uri\` nor \`variables\`.`);
  }
  const uri = own ?? template.expand(variables ?? {});
  if (typeof uri !== 'string' || template.match(uri) === undefined) {
    throw new Error(`the URI ${excerpt(uri)} does not match the template, so no client could read it.`);
  }
  const entry = { uri, name: uri, ...shared, ...fields };
  const wrong = TEXT_FIELDS.find((field) => !['string', 'undefined'].includes(typeof entry[field]));
  if (wrong !== undefined) throw new Error(`the \`${wrong}\` of ${excerpt(uri)} is not a string.`);
  checkDetails(entry, (field, problem) => new Error(`the \`${field}\` of ${excerpt(uri)} ${problem}.`));
  return entry;
}
