import { type FailureKind, McpError } from '@decorum/core';
import { FAILURES, revisionOf, REVISIONS } from '@decorum/core/internal';

import { originOf } from '../origin.js';
import { contentOf, showResult, textsOf } from './content.js';
import { failure, type Judge, verdict } from './matcher.js';
import { isText, show } from './show.js';

/** Whether a result is an error for the model. */
export const isToolError: Judge<[expected?: unknown]> = (context, result, [expected]) => {
  contentOf(result);
  const { isError } = result as { readonly isError?: unknown };
  if (isError !== true) return { pass: false, message: () => `The result is not a tool error. ${showResult(result)}` };
  const texts = textsOf(result);
  const fits = expected === undefined || texts.some((text) => isText(context, expected, text));
  const wanted = expected === undefined ? 'a tool error' : `the tool error ${show(expected)}`;
  return verdict(fits, {
    otherwise: `The result is not ${wanted}. ${showResult(result)}`,
    negated: `The result is ${wanted}, but should not be. ${showResult(result)}`,
  });
};

/** The error codes of a kind of failure in the client's revision, or in all revisions if the client is unknown. */
function codesOf(kind: FailureKind, error: McpError): readonly number[] {
  const own = revisionOf(originOf(error)?.connection.revision);
  const asked = new McpError(kind, '');
  return (own ? [own] : REVISIONS).map((revision) => revision.errorCode(asked) ?? FAILURES['internal-error'].code);
}

function isKind(error: McpError, kind: FailureKind | number | undefined): boolean {
  if (kind === undefined) return true;
  if (typeof kind === 'number') return error.code === kind;
  return error.kind === undefined ? codesOf(kind, error).includes(error.code) : error.kind === kind;
}

const showError = (error: unknown): string =>
  error instanceof McpError ? `McpError ${error.code}: ${error.message}` : String(error);

/** Whether an error is a protocol error of the expected kind. */
export const isMcpError: Judge<[kind?: FailureKind | number]> = (context, error, [kind]) => {
  if (typeof kind === 'string' && !(kind in FAILURES)) {
    const known = Object.keys(FAILURES).join(', ');
    return failure(context, `${show(kind)} is not a kind of protocol error. Write a code, or one of ${known}.`);
  }
  if (!(error instanceof McpError)) {
    const found =
      error instanceof Error ? `an error of another class:\n\n  ${String(error)}` : `no error. ${showAny(error)}`;
    return { pass: false, message: () => `Expected an McpError, but there was ${found}` };
  }
  const codes = typeof kind === 'string' ? [...new Set(codesOf(kind, error))].join(' or ') : String(kind);
  const wanted = typeof kind === 'string' ? `of kind ${show(kind)} (${codes})` : `with the code ${codes}`;
  return verdict(isKind(error, kind), {
    otherwise: `The McpError is not ${wanted}. It is:\n\n  ${showError(error)}`,
    negated: `The error is an McpError${kind === undefined ? '' : ` ${wanted}`}, but should not be:\n\n  ${showError(error)}`,
  });
};

function showAny(value: unknown): string {
  try {
    return `The call returned a result. ${showResult(value)}`;
  } catch {
    return `There was ${show(value)}.`;
  }
}
