/** The functions that lock files. */
export interface FileLocks {
  /**
   * Locks some bytes of an open file until that file descriptor is closed.
   * @returns false if they are locked through another descriptor, in this or another process
   */
  readonly tryLock: (fd: number, offset: number, length: number) => boolean;
  /** Frees bytes that were locked through the same descriptor. */
  readonly unlock: (fd: number, offset: number, length: number) => void;
}

/** Loads the library, in 20 ms. Throws on platforms that it has no binary for. */
export declare function loadFileLocks(): FileLocks;
