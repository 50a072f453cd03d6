/** What a model chose instead of the right call. */
export interface WrongChoice {
  /** The tool, or `no tool`. */
  readonly chosen: string;
  /** Whether the question forbids it. */
  readonly forbidden: boolean;
  /** What is wrong with the arguments, if the tool is right. */
  readonly problems: readonly string[];
  readonly count: number;
}

/** An error in place of a choice. */
export interface FailedChoice {
  readonly message: string;
  readonly count: number;
}

/** How a question went. */
export interface QuestionReport {
  readonly question: string;
  /** What was expected, such as `forecast or alerts`, `no tool` or `not delete_files`. */
  readonly expected: string;
  readonly right: number;
  /** How often the model has chosen. Failures don't count. */
  readonly chosen: number;
  /** The most frequent first. */
  readonly wrong: readonly WrongChoice[];
  readonly failures: readonly FailedChoice[];
}

/** How a table of questions went. */
export interface EvalReport {
  readonly right: number;
  /** How often the model has chosen. Failures don't count. */
  readonly chosen: number;
  /** The share of right choices, from 0 to 1. NaN, or null in JSON, if the model has always failed. */
  readonly share: number;
  /** Between which shares the true one is with 95 % probability, by Wilson's score. */
  readonly interval: { readonly low: number; readonly high: number };
  /** How often a forbidden tool was chosen. */
  readonly forbidden: number;
  /** How often the model threw, took too long, or returned nonsense. */
  readonly failures: number;
  readonly questions: readonly QuestionReport[];
}

/** The 97.5 % quantile of the normal distribution. */
const Z = 1.959964;

/**
 * The interval of a share with 95 % confidence, as Wilson derived it in 1927. Unlike the plain one, it holds for few runs,
 * and when all are right.
 */
export function intervalOf(right: number, chosen: number): { readonly low: number; readonly high: number } {
  if (chosen === 0) return { low: 0, high: 1 };
  const share = right / chosen;
  const center = share + Z ** 2 / (2 * chosen);
  const margin = Z * Math.sqrt((share * (1 - share)) / chosen + Z ** 2 / (4 * chosen ** 2));
  const scale = 1 + Z ** 2 / chosen;
  return { low: Math.max(0, (center - margin) / scale), high: Math.min(1, (center + margin) / scale) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** The totals of all questions. */
export function reportOf(questions: readonly QuestionReport[]): EvalReport {
  const right = sum(questions.map((each) => each.right));
  const chosen = sum(questions.map((each) => each.chosen));
  const wrong = questions.flatMap((each) => each.wrong);
  return {
    right,
    chosen,
    share: right / chosen,
    interval: intervalOf(right, chosen),
    forbidden: sum(wrong.filter(({ forbidden }) => forbidden).map(({ count }) => count)),
    failures: sum(questions.flatMap(({ failures }) => failures.map(({ count }) => count))),
    questions,
  };
}
