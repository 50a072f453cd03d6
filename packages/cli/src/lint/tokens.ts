import type { JsonObject } from '@decorum/core';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** The time that a piece of text takes grows with the square of its length. */
const PIECE = 2000;

/** No text ends the input, as `<|endoftext|>` otherwise would. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

const countIn = (text: string): number => {
  let count = 0;
  for (let at = 0; at < text.length; at += PIECE) count += countTokens(text.slice(at, at + PIECE), AS_TEXT);
  return count;
};

/**
 * Estimates how many tokens a list of tools takes in a model's context. Clients send the name, description and input of each tool, and models differ in how they
 * count.
 */
export function tokensOf(tools: readonly JsonObject[]): number {
  return tools.reduce((sum, { name, description, inputSchema }) => {
    return sum + countIn(JSON.stringify({ name, description, inputSchema }));
  }, 0);
}
