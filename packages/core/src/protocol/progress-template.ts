import { quote } from './jsonrpc.js';
import type { RequestId } from './model.js';

/** Writes the progress notifications of one request. The parts that don't change are serialized once. */
export class ProgressTemplate {
  private readonly head: string;
  private total: number | undefined;
  private tail = END;

  /** @param token the client's progress token */
  constructor(token: RequestId) {
    this.head = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${JSON.stringify(token)},"progress":`;
  }

  /**
   * Serializes one notification.
   * @param progress a finite number
   * @param total omitted unless it is finite
   */
  write(progress: number, total: number | undefined, message: string | undefined): string {
    if (total !== this.total) {
      this.total = total;
      this.tail = Number.isFinite(total) ? `,"total":${total}${END}` : END;
    }
    const { head, tail } = this;
    // joining the short parts first creates fewer string pieces
    if (message === undefined) return head + (progress + tail);
    return `${head}${progress}${tail.slice(0, -END.length)},"message":${quote(String(message))}${END}`;
  }
}

const END = '}}';
