'use strict';
// CommonJS, because `require` can load a library when the first member needs it, and bundlers follow it. The types are
// in libraries.d.cts.

exports.loadCircuitBreaker = () => require('opossum');
exports.loadLruCache = () => require('lru-cache').LRUCache;
