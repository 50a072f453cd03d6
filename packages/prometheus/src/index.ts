export { metrics, type MetricsOptions } from './metrics.js';
export { CLUSTER_METRIC, LABEL, METRIC } from './names.js';
