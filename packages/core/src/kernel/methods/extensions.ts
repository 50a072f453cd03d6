import { isObject } from '@decorum/schema/internal';

import { McpError } from '../../protocol/errors.js';
import type { Revision } from '../../protocol/revisions/revision.js';
import type { Admits, Condition } from '../../registry/listing.js';
import { admission } from '../admission.js';
import { Context } from '../context.js';
import { declares } from '../extensions/extended-tools.js';
import type { Extension, ExtensionHandler, ExtensionMethod } from '../extensions/extension.js';
import { VIEWS } from '../extensions/sees-resource.js';
import type { Method, MethodParts } from './method.js';

/** A method of an extension, as the kernel finds it. */
interface FoundMethod {
  readonly handle: Method;
  /** Ids of the revisions that have it; undefined for all with extensions. */
  readonly revisions: readonly string[] | undefined;
  readonly subject: string | undefined;
}

type ExtensionParts = Pick<MethodParts, 'extensions' | 'hostMethod' | 'results' | 'registry' | 'reporter'>;

/** Whether a caller meets all conditions. */
async function sees(conditions: readonly Condition[], admits: Admits): Promise<boolean> {
  const answers = await Promise.all(conditions.map(admits));
  return answers.every(Boolean);
}

/** Finds the methods of extensions. */
export class ExtensionMethods {
  private readonly byName = new Map<string, FoundMethod>();

  constructor({ extensions, hostMethod, results, registry, reporter }: ExtensionParts) {
    for (const extension of extensions) {
      for (const [name, given] of Object.entries(extension.methods ?? {})) {
        const method: ExtensionMethod = typeof given === 'function' ? { handle: given } : given;
        const { callers = extension.callers ?? 'declared', revisions, subject } = method;
        const own: ExtensionHandler = (params, ctx) => method.handle(params, ctx);
        const run = hostMethod?.(name, own) ?? own;
        const handle: Method = async (exchange) => {
          if (callers === 'declared') requireDeclared(exchange.peer.client, extension);
          const ctx = new Context(exchange);
          VIEWS.set(ctx, (uri) => sees(registry.conditionsOf(uri), admission(exchange, reporter)));
          const result: unknown = await run(exchange.params, ctx);
          if (isObject(result)) return results.write(exchange.revision, result);
          throw new Error(`The method "${name}" of the extension "${extension.id}" returned no object. Return one.`);
        };
        this.byName.set(name, { revisions, subject, handle });
      }
    }
  }

  /** A method, if the revision has it. */
  find(name: string, { id, extensions }: Revision): FoundMethod | undefined {
    const found = extensions ? this.byName.get(name) : undefined;
    return found?.revisions?.includes(id) === false ? undefined : found;
  }
}

/** @throws {McpError} `missing-capability` if the client doesn't declare the extension */
export function requireDeclared(client: Parameters<typeof declares>[0], extension: Extension): void {
  if (declares(client, extension)) return;
  const data = { requiredCapabilities: { extensions: { [extension.id]: {} } } };
  throw new McpError('missing-capability', `The client does not support ${extension.id}.`, data);
}
