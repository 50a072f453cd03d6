export { clusterHub } from './hub/cluster-hub.js';
export type { HubOptions } from './hub/hub-stores.js';
