import type { CallToolResult, ContentBlock, Interceptor } from '@decorum/core';

const isBlank = (block: ContentBlock): boolean => block.type === 'text' && block.text.trim() === '';

/** The result, with text for clients and models that don't see the page, if it has no content. */
export function withText(result: CallToolResult): CallToolResult {
  const { content, structuredContent } = result;
  if (!content.every(isBlank)) return result;
  const text = structuredContent === undefined ? 'Done.' : JSON.stringify(structuredContent);
  return { ...result, content: [{ type: 'text', text }] };
}

/** Adds text to the results of tools with a page. */
export const textFallback = (hasPage: (tool: string) => boolean): Interceptor =>
  async function withFallback({ kind, name }, next) {
    const result = await next();
    return kind === 'tool' && hasPage(name) ? withText(result as CallToolResult) : result;
  };
