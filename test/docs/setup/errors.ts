export { Weather as Shop } from './weather.js';

/** The URI that a handler was asked to read. */
export const uri = 'shop://books/dune';
