'use strict';
// CommonJS, because `require` can load a library in the middle of a synchronous call, when it is first needed, and
// bundlers follow it. They don't follow `createRequire`. The types are in libraries.d.cts.

exports.loadReflectMetadata = () => require('reflect-metadata/lite');
exports.loadAjv = () => require('ajv');
exports.loadAjv2020 = () => require('ajv/dist/2020');
exports.loadAjvFormats = () => require('ajv-formats');
exports.loadAcorn = () => require('acorn');

// Optional peers: bundlers accept that a `require` inside `try` finds nothing.

exports.loadClassTransformer = () => {
  try {
    return require('class-transformer');
  } catch {
    return undefined;
  }
};

exports.loadTransformerStorage = () => {
  try {
    return require('class-transformer/cjs/storage');
  } catch {
    return undefined;
  }
};

exports.loadBundledTransformerStorage = () => {
  // Node.js gives modules a file name, bundlers don't. Node.js would take 10 ms to find that it can't load the file.
  if (module.filename) return undefined;
  try {
    return require('class-transformer/esm5/storage');
  } catch {
    return undefined;
  }
};

exports.loadValidationExecutor = () => {
  try {
    return require('class-validator/cjs/validation/ValidationExecutor');
  } catch {
    return undefined;
  }
};
