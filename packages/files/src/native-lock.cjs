'use strict';
// CommonJS, because bundlers follow this `require`. The library has no types: they are in native-lock.d.cts.

exports.loadFileLocks = () => require('fs-native-extensions');
