import { CommandFailure } from './failure.js';
import { type ProjectOptions, TEMPLATES, type TemplateName, TEST_RUNNERS } from './template.js';

/** The answers that a user can be asked for. Each can be given on the command line instead. */
export interface Answers {
  readonly folder: string;
  readonly template: TemplateName;
  readonly test: ProjectOptions['test'];
}

/** The answers from the command line. */
type Given = { readonly [Key in keyof Answers]?: Answers[Key] | undefined };

/** The answers if nothing is asked. */
const DEFAULTS: Answers = { folder: 'mcp-server', template: 'minimal', test: 'vitest' };

/** Whether anyone can answer: not in continuous integration, and not without a terminal. */
function isInteractive(): boolean {
  const { CI = '' } = process.env;
  return process.stdin.isTTY && process.stdout.isTTY && ['', '0', 'false'].includes(CI);
}

/** Throws if a project can't be created in a folder. */
type Check = (folder: string) => void;

async function askFor(given: Given, check: Check): Promise<Answers> {
  // loaded only here, because most runs don't ask
  const { isCancel, select, text } = await import('@clack/prompts');
  const answered = async <T>(known: Exclude<T, symbol> | undefined, ask: () => Promise<T>) => {
    const answer = known ?? (await ask());
    if (isCancel(answer)) throw new CommandFailure('Cancelled. Nothing was created.');
    return answer as Exclude<T, symbol>;
  };
  const { folder: placeholder } = DEFAULTS;
  const validate = (folder: string | undefined) => {
    try {
      return void check(folder || placeholder);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const message = 'Name or folder of the project';
  const templates = Object.entries(TEMPLATES) as [TemplateName, string][];
  const templateOptions = templates.map(([value, hint]) => ({ value, label: value, hint }));
  const testOptions = TEST_RUNNERS.map((value) => ({ value, label: value }));
  return {
    folder: await answered(given.folder, () => text({ message, placeholder, defaultValue: placeholder, validate })),
    template: await answered(given.template, () => select({ message: 'Template', options: templateOptions })),
    test: await answered(given.test, () => select({ message: 'Test runner', options: testOptions })),
  };
}

/**
 * Completes the given answers: by asking or, with `yes` or if nobody can answer, with the defaults.
 * @param check checks the folder before anything else is asked
 */
export async function complete(given: Given, yes: boolean, check: Check): Promise<Answers> {
  if (given.folder !== undefined) check(given.folder);
  if (!yes && isInteractive()) return await askFor(given, check);
  const { folder = DEFAULTS.folder, template = DEFAULTS.template, test = DEFAULTS.test } = given;
  if (given.folder === undefined) check(folder);
  return { folder, template, test };
}
