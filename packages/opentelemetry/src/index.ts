export { ATTRIBUTE, CLUSTER_METRIC, METRIC, SCOPE, VALUE } from './names.js';
export { telemetry, type TelemetryOptions } from './telemetry.js';
