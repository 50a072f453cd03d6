export { Bun, server } from './fetch.js';
