import { createBenchServer } from '../bench-server.js';

/** The server that `decorum start` runs, with and without workers. */
export const server = () => createBenchServer();
