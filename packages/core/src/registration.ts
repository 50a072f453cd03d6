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
