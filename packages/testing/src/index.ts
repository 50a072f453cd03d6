export type {
  ElicitAnswer,
  ElicitQuestion,
  InitializeResult,
  Notification,
  Program,
  Question,
  SampleAnswer,
  SampleQuestion,
} from '@decorum/client';
export type { RecordedOutcome, Replay, ReplayedOutcome } from '@decorum/client/internal';
export { type CompletionReference, TestClient } from './client.js';
export { connect, type ConnectOptions, revisions } from './connect.js';
export type { RequestOptions } from './request-options.js';
export { contract, type Contract } from './contract.js';
export { elicits, type Script, type ScriptedAnswer } from './elicits.js';
export type { EvaluatedServer } from './evals/catalog.js';
export type { Choice } from './evals/choose.js';
export { evaluate, type EvaluateOptions } from './evals/evaluate.js';
export { type ExpectedCall, expectTool, type ExpectToolOptions, ToolExpectation } from './evals/expect-tool.js';
export type { Model, ModelChoice, ModelRequest, ModelStep, ModelTool } from './evals/model.js';
export type { EvalQuestion } from './evals/questions.js';
export type { EvalReport, FailedChoice, QuestionReport, WrongChoice } from './evals/report.js';
export type { Frame } from './frames.js';
export type { ServerRequestHandlers } from './questions.js';
export { rehearse } from './rehearse.js';
export type { Crash, Performance, Rehearsal, Rehearsed, RehearseOptions } from './rehearsed.js';
export type { RehearsalStore, RehearsedTask } from './rehearsal-store.js';
export type { CallOptions, StartOptions, TaskState } from './task-types.js';
export { TestTasks } from './tasks.js';
export { replayOf, type ReplayOptions } from './replay-of.js';
export type { ConnectTarget, Via } from './target.js';
