// `@decorum/testing/vitest`: adds the matchers to Vitest's `expect`.
import { expect } from 'vitest';

import { matchers } from './matchers/matchers.js';
import type { McpMatchers } from './matchers/types.js';

export type { McpMatchers } from './matchers/types.js';

expect.extend(matchers);

declare module 'vitest' {
  interface Matchers<T> extends McpMatchers<void, T> {}
}
