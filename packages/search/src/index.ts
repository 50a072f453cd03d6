export { search } from './search.js';
export type { SearchOptions } from './search-options.js';
