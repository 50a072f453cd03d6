export { ATTRIBUTE, METRIC, SCOPE, VALUE } from './names.js';
export { telemetry, type TelemetryOptions } from './telemetry.js';
