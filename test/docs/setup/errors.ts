export { Weather as Shop } from './weather.js';

/** What a handler was asked to read. */
export const uri = 'shop://books/dune';
