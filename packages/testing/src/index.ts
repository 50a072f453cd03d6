export { type CompletionReference, type InitializeResult, TestClient } from './client.js';
export { connect, type ConnectOptions } from './connect.js';
export type { RequestOptions } from './connection.js';
export type { Notification } from './inbox.js';
export type { ElicitAnswer, ElicitQuestion, SampleAnswer, SampleQuestion, ServerRequestHandlers } from './questions.js';
export { type Performance, rehearse, type Rehearsal, type Rehearsed, type RehearseOptions } from './rehearse.js';
