import { setTimeout as wait } from 'node:timers/promises';

import { Context, Describe, NoInput, Tool } from '@decorum/core';
import { IsString } from 'class-validator';

class SamplingInput {
  @Describe('What the model is asked')
  @IsString()
  prompt!: string;
}

class ElicitationInput {
  @Describe('What the user is asked')
  @IsString()
  message!: string;
}

class Account {
  @Describe('The name of the user')
  @IsString()
  username!: string;

  @Describe('The email address of the user')
  @IsString()
  email!: string;
}

const STEP_MS = 50;

/** Tools that talk to the client while they run. */
export class Conversations {
  @Tool({ name: 'test_tool_with_progress', description: 'Reports progress three times' })
  async *progress() {
    for (const progress of [0, 50, 100]) {
      yield { progress, total: 100, message: `Completed ${progress} of 100` };
      await wait(STEP_MS);
    }
    return 'Progress was reported.';
  }

  @Tool({ name: 'test_tool_with_logging', description: 'Logs three messages' })
  async logging(_input: NoInput, ctx: Context) {
    for (const message of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      ctx.log.info(message);
      await wait(STEP_MS);
    }
    return 'Messages were logged.';
  }

  @Tool({ name: 'test_logging_tool', description: 'Logs at every level' })
  logEverything(_input: NoInput, ctx: Context) {
    for (const level of ['debug', 'info', 'warning', 'error'] as const)
      ctx.log.write(level, `A message of level ${level}`);
    return 'Messages were logged where the client wanted them.';
  }

  @Tool({ name: 'test_sampling', description: 'Asks the client’s model' })
  async sampling({ prompt }: SamplingInput, ctx: Context) {
    const answer = await ctx.sample({ messages: prompt, maxTokens: 100 });
    return `LLM response: ${answer.text}`;
  }

  @Tool({ name: 'test_missing_capability', description: 'Needs a client with sampling' })
  async missingCapability(_input: NoInput, ctx: Context) {
    return (await ctx.sample({ messages: 'Are you there?', maxTokens: 10 })).text;
  }

  @Tool({ name: 'test_elicitation', description: 'Asks the user for an account' })
  async elicitation({ message }: ElicitationInput, ctx: Context) {
    const answer = await ctx.elicit(Account, { message });
    return answer.action === 'accept' ? `User response: ${answer.content.username}` : `User response: ${answer.action}`;
  }

  @Tool({ name: 'test_reconnection', description: 'Closes its stream before the result is ready' })
  async reconnection(_input: NoInput, ctx: Context) {
    ctx.closeStream({ retryMs: 100 });
    await wait(2 * STEP_MS);
    return 'The client has reconnected for this result.';
  }
}
