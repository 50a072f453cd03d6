export { audit } from './audit/audit.js';
export type { AuditOptions, AuditedMember } from './audit/options.js';
export type { RecorderOptions } from './recorder/options.js';
export { recorder } from './recorder/recorder.js';
export type { RecordedAnswer, Recording } from './recorder/recording.js';
export type { RedactOptions } from './recorder/secrets.js';
