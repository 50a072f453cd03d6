export { metrics, type MetricsOptions } from './metrics.js';
export { LABEL, METRIC } from './names.js';
