/** What was added to a server. */
export interface Registration {
  /** Removes it. Clients are notified that their lists changed. */
  remove(): void;
}

/** A registration whose function runs at most once. */
export function removedOnce(remove: () => void): Registration {
  let isServed = true;
  return {
    remove() {
      if (isServed) remove();
      isServed = false;
    },
  };
}

/** Adds all, or none: a mounted server must not follow a server that was never created. */
export function allOrNone<S>(sources: readonly S[], add: (source: S) => Registration): void {
  const added: Registration[] = [];
  try {
    for (const source of sources) added.push(add(source));
  } catch (error) {
    for (const { remove } of added) remove();
    throw error;
  }
}
