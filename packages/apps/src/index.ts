export { apps } from './apps.js';
