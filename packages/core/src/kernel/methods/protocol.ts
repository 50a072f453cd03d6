import { completionMethods } from './completion.js';
import { lifecycleMethods } from './lifecycle.js';
import { listenMethods } from './listen.js';
import type { Method, MethodParts } from './method.js';
import { promptMethods } from './prompts.js';
import { resourceMethods, subscriptionMethods } from './resources.js';
import { toolMethods } from './tools.js';

/** The protocol's request methods, from all revisions. */
export function protocolMethods(parts: MethodParts): ReadonlyMap<string, Method> {
  return new Map(
    Object.entries({
      ...lifecycleMethods(parts),
      ...toolMethods(parts),
      ...resourceMethods(parts),
      ...subscriptionMethods(parts),
      ...promptMethods(parts),
      ...completionMethods(parts),
      ...listenMethods(parts),
    }),
  );
}
