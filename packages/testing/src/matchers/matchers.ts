import { asksFor } from './asked.js';
import { returnsImage, returnsStructured, returnsText } from './content.js';
import { hasPrompt, hasResource, hasTool } from './entries.js';
import { isMcpError, isToolError } from './errors.js';
import { matcher } from './matcher.js';
import { matchesOutputSchema } from './output-schema.js';

/** All matchers, for `expect.extend` of Jest or Vitest. */
export const matchers = {
  toHaveTool: matcher(hasTool),
  toHaveResource: matcher(hasResource),
  toHavePrompt: matcher(hasPrompt),
  toReturnText: matcher(returnsText),
  toReturnStructured: matcher(returnsStructured),
  toReturnImage: matcher(returnsImage),
  toMatchOutputSchema: matcher(matchesOutputSchema),
  toBeToolError: matcher(isToolError),
  toBeMcpError: matcher(isMcpError, isMcpError),
  toAskFor: matcher(asksFor, asksFor),
};
