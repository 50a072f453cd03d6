/** What a measured process says of itself. */
export interface Usage {
  /** User and system time of all its threads since it started, in microseconds. */
  readonly cpuMicros: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
}

/** What a measured process is asked: its usage, or its usage after a full garbage collection. */
export type UsageQuestion = 'usage' | 'usage after collection';

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  const { heapUsed, rss } = process.memoryUsage();
  return { cpuMicros: user + system, heapBytes: heapUsed, rssBytes: rss };
}

/** Tells the process that started this one where it listens, and from then on answers its questions. */
export function reportTo(parent: NodeJS.Process, url: string): void {
  if (parent.send === undefined) return;
  parent.on('message', (question: UsageQuestion) => {
    if (question === 'usage after collection') globalThis.gc?.();
    parent.send?.(usage());
  });
  // without the process that measures there is nothing left to do
  parent.on('disconnect', () => parent.exit());
  parent.send({ url });
}
