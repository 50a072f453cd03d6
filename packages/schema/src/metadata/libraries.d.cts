/**
 * Defines `Reflect.getMetadata` and what compilers call to record the types of decorated members. Importing the library
 * would take 30 ms longer than requiring it.
 */
export declare function loadReflectMetadata(): void;

/** Loads ajv for JSON Schema draft-07, in 40 ms. A server whose tools are only listed never needs it. */
export declare function loadAjv(): typeof import('ajv');

/** Loads ajv for JSON Schema 2020-12. */
export declare function loadAjv2020(): typeof import('ajv/dist/2020.js');

/** Loads the formats that ajv checks. */
export declare function loadAjvFormats(): { default(ajv: import('ajv').Ajv): void };

/** Loads the parser of the code that ajv generates. Only runtimes that forbid generated code need it. */
export declare function loadAcorn(): typeof import('acorn');

/** Loads class-transformer, the copy that the user's modules import. Undefined where it isn't installed. */
export declare function loadClassTransformer(): typeof import('class-transformer') | undefined;

/** A store that class-transformer's decorators write to. Its index doesn't export it. */
type TransformerStorage = typeof import('class-transformer/types/storage') | undefined;

/** Loads the store of class-transformer as Node.js loads it. Undefined where it isn't installed. */
export declare function loadTransformerStorage(): TransformerStorage;

/** In a bundle, loads the store of its ES module build, which many bundlers prefer. Undefined elsewhere. */
export declare function loadBundledTransformerStorage(): TransformerStorage;

/**
 * Loads the executor behind class-validator's `validate`, in 4 ms where the index takes 80. Undefined where
 * class-validator isn't installed.
 */
export declare function loadValidationExecutor():
  | typeof import('class-validator/types/validation/ValidationExecutor')
  | undefined;
