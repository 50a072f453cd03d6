const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * The milliseconds of a duration such as `30s` or `2h`, or of a number of milliseconds; undefined for anything else, and
 * beyond a maximum.
 * @param maxDays days that it may have at most
 */
export function millisecondsOf(duration: unknown, maxDays = 30): number | undefined {
  const [, count, unit] = (typeof duration === 'string' && /^(\d{1,9})(ms|s|m|h|d)$/.exec(duration)) || [];
  const ms = unit === undefined ? duration : Number(count) * UNITS[unit as keyof typeof UNITS];
  return Number.isInteger(ms) && (ms as number) >= 1 && (ms as number) <= maxDays * UNITS.d
    ? (ms as number)
    : undefined;
}
