import { InputSignal, McpError, ToolError } from '@decorum/core';
import { EXCHANGE } from '@decorum/core/internal';
import type { ArgumentsHost } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { isObservable, lastValueFrom } from 'rxjs';

import type { McpExecutionContext, McpMember } from './execution-context.js';
import { INERT_RESPONSE } from './request.js';

/** The part of Nest's exception handler that runs filters. */
interface Filters {
  invokeCustomFilters(exception: unknown, host: ArgumentsHost): unknown;
}

/** Thrown once guards have let the caller pass, if they only decide whether to show a member. */
export const PASSED = Symbol('passed');

type Target = (...args: unknown[]) => Promise<unknown>;

/** Whether a filter has answered. Filters for HTTP write to the response and return nothing. */
const isAnswer = (result: unknown): boolean => result !== undefined && result !== null && result !== INERT_RESPONSE;

/**
 * Runs filters around a call. Nest's own proxy would also log each error that no filter catches, such as a `ToolError`,
 * and would pass filters our own signals: `InputSignal`, which ends a round of questions, and `PASSED`.
 */
export const errorProxy = {
  createProxy:
    (target: Target, filters: Filters, type: string): Target =>
    async (...args) => {
      try {
        return await target(...args);
      } catch (error) {
        if (error instanceof InputSignal || error === PASSED) throw error;
        const host = new ExecutionContextHost(args);
        host.setType(type);
        const result: unknown = await filters.invokeCustomFilters(error, host);
        const answer: unknown = isObservable(result)
          ? await lastValueFrom(result, { defaultValue: undefined })
          : result;
        if (!isAnswer(answer)) throw error;
        // what a method has written to memory that failed is not stored, even if a filter answers
        (args.at(-1) as McpExecutionContext).context?.[EXCHANGE]().remembered?.drop();
        return answer;
      }
    },
};

/** The message and status of an HttpException from any copy of @nestjs/common; undefined for other errors. */
export function httpException(error: unknown): { status: number; message: string } | undefined {
  const { getStatus, getResponse } = (error ?? {}) as Partial<Record<'getStatus' | 'getResponse', () => unknown>>;
  if (!(error instanceof Error) || typeof getStatus !== 'function') return undefined;
  const response = typeof getResponse === 'function' ? getResponse.call(error) : undefined;
  // pipes list their problems only in the response
  const { message } = (response ?? {}) as { readonly message?: unknown };
  return {
    status: Number(getStatus.call(error)),
    message: Array.isArray(message) ? message.join('; ') : error.message,
  };
}

/** The error for clients: an HttpException below 500 keeps its message; other errors are left to the server. */
export function publicError(error: unknown, kind: McpMember['kind']): unknown {
  const found = httpException(error);
  if (found === undefined || !(found.status < 500)) return error;
  if (kind === 'tool') return new ToolError(found.message, { cause: error });
  // plugins tell denials from wrong arguments by the exception
  return Object.defineProperty(new McpError('invalid-params', found.message), 'cause', { value: error });
}
