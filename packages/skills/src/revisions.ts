/** Whether results of a revision have cache hints. */
export const hasHints = (revision: string): boolean => revision >= '2026-07-28';
