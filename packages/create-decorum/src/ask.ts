import { CommandFailure, EXIT } from './failure.js';
import { ISSUERS, requireIssuer } from './issuer.js';
import { type ProjectOptions, TEMPLATES, type TemplateName, TEST_RUNNERS } from './template.js';

/** The answers that a user can be asked for. Each can be given on the command line instead. */
export interface Answers {
  readonly folder: string;
  readonly template: TemplateName;
  readonly test: ProjectOptions['test'];
  readonly issuer: ProjectOptions['issuer'];
}

/** The answers from the command line. */
type Given = { readonly [Key in keyof Answers]?: Answers[Key] | undefined };

/** The answers if nothing is asked. */
const DEFAULTS = { folder: 'mcp-server', template: 'minimal', test: 'vitest', issuer: 'embedded' } as const;

/** Whether anyone can answer: not in continuous integration, and not without a terminal. */
function isInteractive(): boolean {
  const { CI = '' } = process.env;
  return process.stdin.isTTY && process.stdout.isTTY && ['', '0', 'false'].includes(CI);
}

/** Throws if a project can't be created in a folder. */
type Check = (folder: string) => void;

/** Only one template has an issuer. */
const hasIssuer = ({ template }: Pick<Answers, 'template'>) => template === 'secured';

/** What is wrong with an answer, for the prompt. */
function problemOf(check: () => void): string | undefined {
  try {
    return void check();
  } catch (error) {
    return (error as Error).message;
  }
}

async function askFor(given: Given, check: Check): Promise<Answers> {
  // loaded only here, because most runs don't ask
  const { isCancel, select, text } = await import('@clack/prompts');
  const answered = async <T>(known: Exclude<T, symbol> | undefined, ask: () => Promise<T>) => {
    const answer = known ?? (await ask());
    if (isCancel(answer)) throw new CommandFailure('Cancelled. Nothing was created.');
    return answer as Exclude<T, symbol>;
  };
  const askForIssuer = async () => {
    const options = Object.entries(ISSUERS).map(([value, hint]) => ({ value, label: value, hint }));
    const kind = await answered(given.issuer, () => select({ message: 'Where users sign in', options }));
    if (given.issuer !== undefined || kind !== 'own') return kind;
    const message = 'URL of the issuer (empty to set it later)';
    const validate = (url: string | undefined) => problemOf(() => url && requireIssuer(url));
    return (await answered(undefined, () => text({ message, defaultValue: kind, validate }))) || kind;
  };
  const { folder: placeholder } = DEFAULTS;
  const validate = (folder: string | undefined) => problemOf(() => check(folder || placeholder));
  const message = 'Name or folder of the project';
  const templates = Object.entries(TEMPLATES) as [TemplateName, string][];
  const templateOptions = templates.map(([value, hint]) => ({ value, label: value, hint }));
  const testOptions = TEST_RUNNERS.map((value) => ({ value, label: value }));
  const folder = await answered(given.folder, () =>
    text({ message, placeholder, defaultValue: placeholder, validate }),
  );
  const template = await answered(given.template, () => select({ message: 'Template', options: templateOptions }));
  return {
    folder,
    template,
    issuer: hasIssuer({ template }) ? await askForIssuer() : given.issuer,
    test: await answered(given.test, () => select({ message: 'Test runner', options: testOptions })),
  };
}

/**
 * Completes the given answers: by asking or, with `yes` or if nobody can answer, with the defaults.
 * @param check checks the folder before anything else is asked
 */
export async function complete(given: Given, yes: boolean, check: Check): Promise<Answers> {
  if (given.issuer !== undefined) requireIssuer(given.issuer);
  if (given.folder !== undefined) check(given.folder);
  const answers = !yes && isInteractive() ? await askFor(given, check) : withDefaults(given);
  if (answers.issuer !== undefined && !hasIssuer(answers)) {
    throw new CommandFailure('--issuer is for --template secured.', EXIT.usage);
  }
  check(answers.folder);
  return answers;
}

function withDefaults(given: Given): Answers {
  const { folder = DEFAULTS.folder, template = DEFAULTS.template, test = DEFAULTS.test } = given;
  const issuer = given.issuer ?? (hasIssuer({ template }) ? DEFAULTS.issuer : undefined);
  return { folder, template, test, issuer };
}
