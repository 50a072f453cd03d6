import { setTimeout as wait } from 'node:timers/promises';

import { type Context, McpError, NoInput, Tool, ToolError } from '@decorum/core';
import { IsNumber, IsOptional, IsString, Max, Min } from 'class-validator';

class Greeted {
  @IsString() name!: string;
}

class Computation {
  @IsNumber() @Min(0) @Max(300) seconds!: number;
  @IsOptional() @IsString() label?: string;
}

class Deletion {
  @IsString() filename!: string;
}

class Name {
  @IsString() name!: string;
}

/** Tools that run as tasks. */
export class Tasks {
  @Tool({ description: 'Greets somebody at once' })
  greet({ name }: Greeted) {
    return `Hello, ${name}!`;
  }

  @Tool({ name: 'slow_compute', description: 'Computes for some seconds', task: 'optional' })
  async slowCompute({ seconds, label = 'nothing' }: Computation, ctx: Context) {
    await wait(seconds * 1000, undefined, { signal: ctx.signal });
    return `Computed ${label} in ${seconds} s.`;
  }

  @Tool({ name: 'failing_job', description: 'Fails with an error of the tool', task: 'required' })
  async failingJob() {
    await wait(50);
    throw new ToolError('The job failed.');
  }

  @Tool({ name: 'protocol_error_job', description: 'Fails with an error of the protocol', task: 'required' })
  async protocolErrorJob() {
    await wait(50);
    throw new McpError('internal-error', 'The job broke.');
  }

  @Tool({ name: 'confirm_delete', description: 'Asks before it deletes a file', task: 'optional' })
  async confirmDelete({ filename }: Deletion, ctx: Context) {
    // what a handler asks at once is asked before there is a task
    await wait(5);
    return (await ctx.confirm(`Delete ${filename}?`)) ? `Deleted ${filename}.` : `Kept ${filename}.`;
  }

  @Tool({ name: 'multi_input', description: 'Asks two questions at the same time', task: 'optional' })
  async multiInput(_: NoInput, ctx: Context) {
    await wait(5);
    const answers = await Promise.all([ctx.confirm('Go left?'), ctx.confirm('Go fast?')]);
    return answers.map((answer) => (answer ? 'yes' : 'no')).join(', ');
  }

  @Tool({ name: 'test_tool_with_task', description: 'Asks first, and then works as a task', task: 'required' })
  async askThenWork(_: NoInput, ctx: Context) {
    const answer = await ctx.elicit(Name, { message: 'What is your name?', key: 'user_name' });
    await wait(50);
    return answer.action === 'accept' ? `Hello, ${answer.content.name}!` : 'Hello!';
  }
}
