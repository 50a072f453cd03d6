export { Deno, server } from './fetch.js';
