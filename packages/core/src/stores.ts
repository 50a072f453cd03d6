import { isWorker } from './kernel/cluster.js';
import { type KeyValueStore, MemoryKeyValueStore } from './kernel/records/key-value-store.js';
import { demand, type McpServerOptions } from './options.js';
import { clusterServer, hasSecret } from './secrets.js';

type Options = McpServerOptions<readonly object[]>;

/**
 * Where a server keeps its data: in its own store, that of its cluster, or memory.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a durable store without a secret, and for one in memory if other
 *   processes serve the same clients
 */
export function storeOf(options: Options): KeyValueStore {
  const { cluster, store = cluster?.store ?? (isWorker() ? UNSHARED : new MemoryKeyValueStore()) } = options;
  const isClear = typeof (store as Partial<KeyValueStore>).isDurable === 'boolean';
  demand(isClear, options.store ? 'store' : 'cluster.store', NOT_CLEAR);
  demand(!store.isDurable || hasSecret(options), 'secret', NO_SECRET);
  const isShared = cluster === undefined || store === cluster.store || !(store instanceof MemoryKeyValueStore);
  demand(isShared, 'store', ONLY_HERE);
  return store;
}

/** Takes the place of the default store in a worker, where each worker would have its own. */
const UNSHARED: KeyValueStore = {
  isDurable: false,
  get: () => {
    throw new Error(NOT_SHARED);
  },
  set: () => false,
  delete: () => false,
};

/** Opens and closes what a server shares with other processes, and what keeps its data. */
export function storeHooks(
  options: Options,
  report: (error: unknown, message?: string) => void,
): readonly { onStart(): void | Promise<void>; onClose(): void | Promise<void> }[] {
  const { cluster, store } = options;
  const port = cluster && clusterServer(options, report);
  return [
    ...(cluster && port ? [{ onStart: () => cluster.open?.(port), onClose: () => cluster.close?.() }] : []),
    ...(store ? [{ onStart: async () => await openStore(store), onClose: async () => await closeStore(store) }] : []),
  ];
}

/** How many servers of this process use each store, and the last `open` or `close` of each. */
const uses = new WeakMap<KeyValueStore, { servers: number; done: Promise<void> }>();

/** Opens a store for the first of its servers. */
async function openStore(store: KeyValueStore): Promise<void> {
  const use = uses.get(store) ?? { servers: 0, done: Promise.resolve() };
  uses.set(store, use);
  use.servers += 1;
  if (use.servers === 1) use.done = use.done.catch(() => {}).then(async () => await store.open?.());
  await use.done;
}

/** Closes a store after the last of its servers. */
async function closeStore(store: KeyValueStore): Promise<void> {
  const use = uses.get(store);
  if (use === undefined || (use.servers -= 1) > 0) return;
  use.done = use.done.catch(() => {}).then(async () => await store.close?.());
  await use.done;
}

const NOT_CLEAR =
  'must have `isDurable`: true if its values survive the end of the process, as those of a database do, or false';

const NO_SECRET =
  'is missing. `store` keeps data beyond the end of the process, sealed with the secret: set DECORUM_SECRET to at least 32 random characters';

const ONLY_HERE =
  'keeps data for this process only: the other processes of the `cluster` can not find it. Remove it, to keep the data in the `cluster`';

const NOT_SHARED =
  'This worker of `node:cluster` shares no data with the others. Start the program with `decorum start --workers`, or pass `cluster` or `store`.';
