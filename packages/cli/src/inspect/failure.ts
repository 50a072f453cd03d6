import { ConnectionError } from '@decorum/client';
import { DecorumError, McpError } from '@decorum/core';
import { CommandFailure, EXIT, plainText } from 'create-decorum';

/** Exit codes of errors of the connection. All others mean that there is no connection. */
const CODES: { readonly [code in ConnectionError['code']]?: number } = {
  timeout: EXIT.timeout,
  unauthorized: EXIT.unauthorized,
};

/** Explains an error of the client, and decides the exit code. */
export function failureOf(error: unknown): unknown {
  if (error instanceof CommandFailure) return error;
  if (error instanceof McpError) {
    const data = error.data === undefined ? '' : `\n${JSON.stringify(error.data, null, 2)}`;
    const message = `The server answered with error ${error.code}: ${error.message}${data}`;
    return new CommandFailure(plainText(message), EXIT.serverError, error);
  }
  if (error instanceof ConnectionError)
    return new CommandFailure(messageOf(error), CODES[error.code] ?? EXIT.connection, error);
  if (error instanceof DecorumError) return new CommandFailure(error.message, EXIT.usage, error);
  return error;
}

/** The client's remedy against missing credentials names its own options, which the command line doesn't have. */
function messageOf({ code, status, message }: ConnectionError): string {
  if (code !== 'unauthorized' || status === 403) return message;
  return message.replace(/\n.*/s, "\nPass credentials: `--header 'Authorization: Bearer TOKEN'`.");
}
