'use strict';
// CommonJS, because `require` can load a library in the middle of a synchronous call, when it is first needed, and
// bundlers follow it. They don't follow `createRequire`. The types are in libraries.d.cts.

exports.loadReflectMetadata = () => require('reflect-metadata/lite');
exports.loadAjv = () => require('ajv');
exports.loadAjv2020 = () => require('ajv/dist/2020');
exports.loadAjvFormats = () => require('ajv-formats');
exports.loadClassTransformer = () => require('class-transformer');
exports.loadTransformerStorage = () => require('class-transformer/cjs/storage');
exports.loadValidationExecutor = () => require('class-validator/cjs/validation/ValidationExecutor');
