// `@decorum/testing/jest`: adds the matchers to Jest's `expect`, global or imported.
import { expect } from '@jest/globals';

import { matchers } from './matchers/matchers.js';
import type { McpMatchers } from './matchers/types.js';

export type { McpMatchers } from './matchers/types.js';

expect.extend(matchers);

declare module 'expect' {
  interface Matchers<R extends void | Promise<void>, T> extends McpMatchers<R, T> {}
}

declare global {
  // for the global `expect` of @types/jest
  namespace jest {
    interface Matchers<R, T> extends McpMatchers<R, T> {}
  }
}
