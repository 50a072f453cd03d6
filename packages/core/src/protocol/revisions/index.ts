import { revision20241105 } from './2024-11-05.js';
import { revision20250326 } from './2025-03-26.js';
import { revision20250618 } from './2025-06-18.js';
import { revision20251125 } from './2025-11-25.js';
import { revision20260728 } from './2026-07-28.js';
import type { Era, Revision } from './revision.js';

/** All supported revisions, oldest first. */
export const REVISIONS: readonly Revision[] = [
  revision20241105,
  revision20250326,
  revision20250618,
  revision20251125,
  revision20260728,
];

/** Supported revisions by id. */
export const REVISION_BY_ID: ReadonlyMap<unknown, Revision> = new Map(REVISIONS.map((each) => [each.id, each]));

/** The revision with an id, if it is supported. */
export function revisionOf(id: unknown): Revision | undefined {
  return REVISION_BY_ID.get(id);
}

/**
 * The revision assumed for an HTTP request that has no session and declares no revision: the last revision without a
 * version header.
 */
export const UNDECLARED_REVISION: Revision = revision20250326;

/** The newest revision of an era. */
export function newestOf(era: Era): Revision {
  return REVISIONS.filter((revision) => revision.era === era).at(-1) as Revision;
}

/** The ids of all revisions, newest first. */
export const REVISION_IDS: readonly string[] = REVISIONS.map(({ id }) => id).reverse();
