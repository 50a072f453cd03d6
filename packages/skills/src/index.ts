export type { SkillGuard } from './skill.js';
export { type SkillFolder, skills, type SkillsOptions } from './skills.js';
