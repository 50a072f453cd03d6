export type { Program } from './carriers/program.js';
