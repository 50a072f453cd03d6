/** Milliseconds of CPU time of this process. Unlike elapsed time, it doesn't depend on the load of the machine. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
