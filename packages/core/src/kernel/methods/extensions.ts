import { isObject } from '@decorum/schema/internal';

import { McpError } from '../../protocol/errors.js';
import { Context } from '../context.js';
import type { Method, MethodParts } from './method.js';

/** Methods of extensions. A client can call them only if it declares the extension in the request. */
export function extensionMethods({ extensions, results }: MethodParts): ReadonlyMap<string, Method> {
  const methods = new Map<string, Method>();
  for (const { id, methods: handlers = {} } of extensions) {
    for (const [name, handle] of Object.entries(handlers)) {
      methods.set(name, async (exchange) => {
        if (!isObject(exchange.peer.client.capabilities.extensions?.[id])) {
          const data = { requiredCapabilities: { extensions: { [id]: {} } } };
          throw new McpError('missing-capability', `The client does not support ${id}.`, data);
        }
        const result = await handle(exchange.params, new Context(exchange));
        return results.write(exchange.revision, result);
      });
    }
  }
  return methods;
}
