export { Weather } from './weather.js';
