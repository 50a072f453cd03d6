import { indented, show } from '../matchers/show.js';
import type { Catalog } from './catalog.js';
import type { Choice } from './choose.js';
import { type Expectation, type Judgment, wordsOf } from './expectation.js';

/** Names of tools in a message, because there may be thousands. */
const MAX_NAMES = 40;

/** A choice that was not as expected. */
export interface Mistake {
  readonly question: string;
  readonly choice: Choice;
  readonly expected: Expectation;
  readonly judgment: Judgment;
}

function headOf({ question, choice, expected, judgment }: Mistake): string {
  const { tool, arguments: args } = choice;
  const call = tool === undefined ? 'no tool' : `${tool} ${show(args)}`;
  const asked = `For ${show(question)}, the model chose ${call}`;
  if (judgment.kind === 'arguments') {
    return `${asked}. The tool is right, but the arguments are not:\n\n${indented(judgment.problems)}`;
  }
  return judgment.kind === 'forbidden' ? `${asked}, which it must not.` : `${asked}. Expected ${wordsOf(expected)}.`;
}

/** The descriptions of the expected and the chosen tools, below each other. */
function compared(catalog: Catalog, { choice: { tool }, expected: { tools } }: Mistake): string[] {
  const wanted = typeof tools === 'string' ? [] : tools;
  const lines = wanted.map((name) => `expected  ${name}: ${catalog.describe(name)}`);
  return tool === undefined || wanted.includes(tool)
    ? lines
    : [...lines, `chosen    ${tool}: ${catalog.describe(tool)}`];
}

/** Says what the model chose instead, and between which tools it had to choose. */
export function messageOf(catalog: Catalog, mistake: Mistake): string {
  const { steps } = mistake.choice;
  const names = catalog.shown.map(({ name }) => name);
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : '';
  const searches = steps.map(
    (step) => `It searched with ${show(step.arguments)} and found:\n\n${indented(found(step.result))}`,
  );
  return [
    headOf(mistake),
    indented(compared(catalog, mistake)),
    ...searches,
    `It saw ${names.length === 1 ? '1 tool' : `${names.length} tools`}: ${names.slice(0, MAX_NAMES).join(', ')}${more}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const MAX_FOUND = 1000;

const found = (result: string): string[] =>
  (result.length > MAX_FOUND ? `${result.slice(0, MAX_FOUND)}…` : result).split('\n');
