import { plainLine } from 'create-decorum';

import { cut, tableOf } from '../table.js';
import type { QuestionReport, Report } from './messages.js';

const TITLES = ['QUESTION', 'EXPECTED', 'RIGHT', 'INSTEAD'];

/** The longest question and the longest explanation in the table. */
const MAX_QUESTION = 60;
const MAX_PROBLEM = 100;

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;

/** What was chosen instead, how often, and why that is wrong. */
function instead({ wrong, failures }: QuestionReport): string {
  const choices = wrong.map(({ chosen, count, forbidden, problems }) => {
    const why = forbidden ? 'forbidden' : problems.join('; ');
    return `${chosen} ${count}${why && ` (${cut(plainLine(why), MAX_PROBLEM)})`}`;
  });
  const failed = failures.map(({ message, count }) => `failed ${count} (${cut(plainLine(message), MAX_PROBLEM)})`);
  return [...choices, ...failed].join(', ');
}

function rowOf(report: QuestionReport): readonly string[] {
  const { question, expected, right, chosen } = report;
  return [cut(plainLine(question), MAX_QUESTION), expected, `${right}/${chosen}`, instead(report)];
}

function totalOf({ share, right, chosen, interval: { low, high }, forbidden, failures }: Report, min: number): string {
  const total =
    share === null
      ? 'The model has never chosen'
      : `${right} of ${chosen} right: ${percent(share)} (${percent(low)} to ${percent(high)} with 95 % confidence)`;
  const parts = [
    total,
    share !== null && share < min && `less than ${percent(min)}`,
    forbidden > 0 && `${forbidden} forbidden`,
    failures > 0 && `${failures} failed`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

/**
 * A table of the questions, and the total.
 * @param min the share that the total should have
 */
export const printed = (report: Report, min: number): string =>
  `${tableOf(TITLES, report.questions.map(rowOf))}\n\n${totalOf(report, min)}\n`;
