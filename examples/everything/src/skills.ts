import { fileURLToPath } from 'node:url';

import { skills } from '@decorum/skills';

/** The skills of this folder. */
export const testSkills = () => skills(fileURLToPath(new URL('../skills', import.meta.url)));
