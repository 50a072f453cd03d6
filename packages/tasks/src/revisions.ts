/** The revision whose sessions have tasks. */
export const SESSIONS = '2025-11-25';

/** The revision with the extension. */
export const STATELESS = '2026-07-28';
