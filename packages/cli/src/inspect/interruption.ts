import { CommandFailure, EXIT } from 'create-decorum';

/** Ctrl+C cancels what is in flight, and a second one ends the process. So does the first while nothing is in flight. */
export class Interruption {
  private readonly control = new AbortController();
  private isConnected = false;

  constructor() {
    process.on('SIGINT', this.onSignal).on('SIGTERM', this.onSignal);
  }

  /** Aborts with a `CommandFailure`. */
  get signal(): AbortSignal {
    return this.control.signal;
  }

  /** From now on, there may be something to cancel. */
  matters(): void {
    this.isConnected = true;
  }

  /** Cancels for another reason. */
  readonly fail = (failure: CommandFailure): void => this.control.abort(failure);

  /** Leaves signals to Node.js again. */
  end(): void {
    process.off('SIGINT', this.onSignal).off('SIGTERM', this.onSignal);
  }

  private readonly onSignal = (): void => {
    if (!this.isConnected || this.signal.aborted) process.exit(EXIT.interrupted);
    this.fail(new CommandFailure('Interrupted.', EXIT.interrupted));
  };
}
