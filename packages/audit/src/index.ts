export { audit } from './audit/audit.js';
export type { AuditOptions, AuditedMember } from './audit/options.js';
