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

/** Loads class-transformer. */
export declare function loadClassTransformer(): typeof import('class-transformer');

/** Loads the store that class-transformer's decorators write to. Its index does not export it. */
export declare function loadTransformerStorage(): typeof import('class-transformer/types/storage');

/** Loads the executor behind class-validator's `validate`, in 4 ms where the index takes 80. */
export declare function loadValidationExecutor(): typeof import('class-validator/types/validation/ValidationExecutor');
