/** User and system time of all threads of this process since it started, in microseconds. */
export function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Bytes in use on the heap after a full collection. Needs `--expose-gc`. */
export function heapAfterCollection(): number {
  if (globalThis.gc === undefined) throw new Error('Run it with --expose-gc.');
  // finalizers of the first collection may release more objects
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
