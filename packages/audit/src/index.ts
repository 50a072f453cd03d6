export { audit } from './audit/audit.js';
export type { AuditedMember, AuditOptions } from './audit/options.js';
export type { RecorderOptions } from './recorder/options.js';
export { recorder } from './recorder/recorder.js';
export type { RecordedAnswer, Recording } from './recorder/recording.js';
export type { RedactOptions } from './recorder/secrets.js';
export type { AuditFinding, AuditProblem, AuditReport } from './verify/verifier.js';
export type { AuditPlace } from './verify/read-lines.js';
export { verifyAudit, type VerifyAuditOptions } from './verify/verify-audit.js';
