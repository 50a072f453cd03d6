// `@decorum/testing/contracts`: what the parts of an engine must do, for the tests of its author.
export { changeBusContract, type SharedBus } from './contracts/change-bus.js';
export { clusterContract, type ClusterNodes } from './contracts/cluster.js';
export { courierContract, type CourierNodes } from './contracts/courier.js';
export { eventStoreContract } from './contracts/event-store.js';
export { keyValueStoreContract } from './contracts/key-value-store.js';
export type { ContractClock, ContractRule } from './contracts/rule.js';
export { sessionStoreContract } from './contracts/session-store.js';
export { singleUseContract } from './contracts/single-use.js';
