import type { Contract, Lists } from '../../src/contract/contract.js';
import { type Difference, differences } from '../../src/contract/differences.js';

const EMPTY: Lists = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

/** A contract with the same lists in each revision. */
export function contract(lists: Partial<Lists>, dates: readonly string[] = ['2025-06-18', '2025-11-25']): Contract {
  return {
    server: { name: 'billing' },
    revisions: Object.fromEntries(dates.map((date) => [date, { ...EMPTY, ...lists }])),
  };
}

const line = ({ class: kind, member, why }: Difference): string => `${kind} ${member}: ${why}`;

/** What breaks clients of one contract that get another. */
export const breakingBetween = (before: object, after: object): readonly string[] =>
  differences(before as Contract, after as Contract).flatMap((each) => (each.class === 'breaking' ? [line(each)] : []));

/** What has changed between two lists. */
export const linesBetween = (before: Partial<Lists>, after: Partial<Lists>): readonly string[] =>
  differences(contract(before), contract(after)).map(line);

/** What has changed between two versions of the input of a tool. */
export const inputLines = (before: object, after: object): readonly string[] =>
  linesBetween({ tools: [{ name: 'pay', inputSchema: before }] }, { tools: [{ name: 'pay', inputSchema: after }] });

/** What has changed between two versions of the result of a tool. */
export function outputLines(before: object, after: object): readonly string[] {
  const tool = (outputSchema: object) => ({ name: 'pay', inputSchema: { type: 'object' }, outputSchema });
  return linesBetween({ tools: [tool(before)] }, { tools: [tool(after)] });
}

/** The schema of an object. */
export const object = (properties: object, ...required: readonly string[]): object => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});
