/**
 * Locks some bytes of an open file until that file descriptor is closed.
 * @returns false if they are locked through another descriptor, in this or another process
 */
type TryLock = (fd: number, offset: number, length: number) => boolean;

/** Loads the lock, in 20 ms. Throws on platforms that the library has no binary for. */
export declare function loadTryLock(): TryLock;
