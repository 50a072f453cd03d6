import { guard } from './guard.js';
import type { ClientOptions } from './options.js';

type Told = Pick<ClientOptions, 'onNotification' | 'onClose' | 'onStderr'>;

/** The callbacks that nobody waits for. An error in one is reported, and disturbs nothing. */
export interface Callbacks extends Told {
  /** Tells of what the client survives. */
  puzzled(error: Error): void;
  /** Tells of an error in the user's own code. */
  failed(error: Error): void;
}

/** The last resort: nobody else would hear of a mistake in a callback. */
const warn = ({ message, stack }: Error): void => process.emitWarning(message, { ...(stack && { detail: stack }) });

/** Guards the callbacks of a client. */
export function callbacksOf({ onError, onNotification, onClose, onStderr }: ClientOptions): Callbacks {
  const puzzled = (error: Error) => {
    if (onError) guard(() => onError(error), warn);
  };
  const failed = (error: Error) => (onError ? puzzled(error) : warn(error));
  return {
    puzzled,
    failed,
    onNotification: onNotification && ((...args) => guard(() => onNotification(...args), failed)),
    onClose: onClose && ((reason) => guard(() => onClose(reason), failed)),
    onStderr: onStderr && ((chunk) => guard(() => onStderr(chunk), failed)),
  };
}
