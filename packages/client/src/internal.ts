// `@decorum/client/internal`: for Decorum's own packages. It may change in any release, so don't import it elsewhere.
export type { Carrier, ListedTool, OpenCarrier, Receiver } from './carriers/carrier.js';
export { fixedHeaders } from './carriers/credentials.js';
export { overHttp } from './carriers/http.js';
export { readLines } from './carriers/lines.js';
export { overMemory } from './carriers/memory.js';
export { overProgram, type Program } from './carriers/program.js';
export { Connection } from './connection.js';
export type { Identity, InitializeResult, Listener } from './listener.js';
export { ALL_TOOLS, listAll } from './pages.js';
export { answer, capabilitiesOf, type Question } from './questions.js';
export type { RequestOptions } from './request.js';
export { readRecording, type ReadRecording, type RecordedOutcome } from './replay/recording.js';
export { replay, type Replay, type ReplayedOutcome } from './replay/replay.js';
export { inRounds, respond } from './rounds.js';
