/**
 * What Decorum's own packages need beyond the public exports. It may change in any release, so import
 * `@decorum/schema` instead.
 */
export * from './index.js';
export { compileShape, EMPTY_SHAPE, hasFieldsAtRoot, hasObjectRoot } from './compile.js';
export { fieldDecorator } from './decorators/describe.js';
export { rejectArgument, rejectBare, rejectPlace, type Usage } from './decorators/misuse.js';
export { branded, errorsOf, excerpt, isMade, type MessageTable, SCHEMA_ERRORS } from './errors.js';
export { ExtraFields } from './json-schema/extra-fields.js';
export { generatesCode } from './validation/code-generation.js';
export { inspectRaw } from './validation/raw.js';
export { NAMED, VALUES } from './json-schema/raw-keywords.js';
export { repairing } from './validation/repair.js';
export { takesObjectsOnly } from './json-schema/strings.js';
export { inheritsTypes, nothingEmitted, typeProblem } from './metadata/emitted.js';
export { hasDefault, hasParameters } from './metadata/parameters.js';
export { declaredRecords, lineage, parameterTypes, recordWriter } from './metadata/store.js';
export {
  invalidOption,
  nearest,
  type OptionType,
  type OptionTypes,
  requireExtensible,
  requireOptions,
  withDefaults,
} from './options.js';
export { admitsNull, withoutNull } from './rules/keywords.js';
export type { Checked, Shape } from './shape.js';
export { NotFinite, requireFinite } from './values/finite.js';
export { isObject } from './values/json.js';
export { bytesOf, jsonRoundTrip, NotJson, toJsonForm, toJsonText } from './values/json-form.js';
export { andThen, attempt, isPromise, within } from './values/maybe-promise.js';
