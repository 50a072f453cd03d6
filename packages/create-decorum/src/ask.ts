import { CommandFailure } from './failure.js';
import { targetOf } from './project-name.js';
import { type ProjectOptions, TEMPLATES, type TemplateName, TEST_RUNNERS } from './template.js';

/** What a user can be asked. Each answer can be given on the command line instead. */
export interface Answers {
  readonly folder: string;
  readonly template: TemplateName;
  readonly test: ProjectOptions['test'];
}

/** What the command line says already. */
type Given = { readonly [Key in keyof Answers]?: Answers[Key] | undefined };

/** The answers if nothing is asked. */
const DEFAULTS: Answers = { folder: 'mcp-server', template: 'minimal', test: 'vitest' };

/** Nobody answers in continuous integration, and without a terminal. */
function isInteractive(): boolean {
  const { CI = '' } = process.env;
  return process.stdin.isTTY && process.stdout.isTTY && ['', '0', 'false'].includes(CI);
}

function problemOf(folder: string | undefined): string | undefined {
  try {
    targetOf(folder || DEFAULTS.folder);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

async function askFor(given: Given): Promise<Answers> {
  // loaded only here, because most runs don't ask
  const { isCancel, select, text } = await import('@clack/prompts');
  const answered = async <T>(known: Exclude<T, symbol> | undefined, ask: () => Promise<T>) => {
    const answer = known ?? (await ask());
    if (isCancel(answer)) throw new CommandFailure('Cancelled. Nothing was created.');
    return answer as Exclude<T, symbol>;
  };
  const { folder: placeholder } = DEFAULTS;
  const message = 'Name or folder of the project';
  const templates = Object.entries(TEMPLATES) as [TemplateName, string][];
  const templateOptions = templates.map(([value, hint]) => ({ value, label: value, hint }));
  const testOptions = TEST_RUNNERS.map((value) => ({ value, label: value }));
  return {
    folder: await answered(given.folder, () =>
      text({ message, placeholder, defaultValue: placeholder, validate: problemOf }),
    ),
    template: await answered(given.template, () => select({ message: 'Template', options: templateOptions })),
    test: await answered(given.test, () => select({ message: 'Test runner', options: testOptions })),
  };
}

/** Completes what was given: by asking, or by defaults if nobody would answer or `yes` says so. */
export async function complete(given: Given, yes: boolean): Promise<Answers> {
  if (!yes && isInteractive()) return await askFor(given);
  return {
    folder: given.folder ?? DEFAULTS.folder,
    template: given.template ?? DEFAULTS.template,
    test: given.test ?? DEFAULTS.test,
  };
}
