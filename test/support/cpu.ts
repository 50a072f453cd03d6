/** Milliseconds of CPU that this process has used: unlike wall time it doesn't grow with what else the machine does. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
