export { type TemplateMatch, type TemplateValue, UriTemplate } from './uri-template.js';
