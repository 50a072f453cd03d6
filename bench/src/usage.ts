/** User and system time of all threads of this process since it started, in microseconds. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Bytes in use on the heap after a full collection. Needs `--expose-gc`. */
export function heapAfterCollection(): number {
  if (globalThis.gc === undefined) throw new Error('Run it with --expose-gc.');
  // what the first finds unreachable may have finalizers that let go of more
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
