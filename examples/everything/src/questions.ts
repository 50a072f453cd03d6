import { Context, NoInput, Prompt, Tool } from '@decorum/core';
import { IsBoolean, IsString } from 'class-validator';

class UserName {
  @IsString()
  name!: string;
}

class Confirmation {
  @IsBoolean()
  ok!: boolean;
}

class Color {
  @IsString()
  color!: string;
}

class Background {
  @IsString()
  context!: string;
}

/** The suite sends some answers without being asked. Leave this out unless your client does the same. */
const acceptUnsolicited = true;

const ASK_NAME = { message: 'What is your name?', key: 'user_name', acceptUnsolicited };

/** Tools that ask the client questions. The same code works in every revision. */
export class Questions {
  @Tool({ name: 'test_input_required_result_elicitation', description: 'Asks for a name' })
  async name(_input: NoInput, ctx: Context) {
    const answer = await ctx.elicit(UserName, ASK_NAME);
    return answer.action === 'accept' ? `Hello, ${answer.content.name}!` : 'Hello, whoever you are!';
  }

  @Tool({ name: 'test_input_required_result_sampling', description: 'Asks the client’s model' })
  async capital(_input: NoInput, ctx: Context) {
    const messages = 'What is the capital of France?';
    return (await ctx.sample({ messages, maxTokens: 100, key: 'capital_question' })).text;
  }

  @Tool({ name: 'test_input_required_result_list_roots', description: 'Asks for the client’s roots' })
  async roots(_input: NoInput, ctx: Context) {
    const roots = await ctx.roots({ key: 'client_roots' });
    return `The client works in ${roots.length} places.`;
  }

  @Tool({ name: 'test_input_required_result_request_state', description: 'Asks for a confirmation' })
  async state(_input: NoInput, ctx: Context) {
    const answer = await ctx.elicit(Confirmation, { message: 'Please confirm', key: 'confirm' });
    return answer.action === 'accept' ? 'state-ok: confirmed' : 'state-ok: not confirmed';
  }

  @Tool({ name: 'test_input_required_result_tampered_state', description: 'Rejects tampered state' })
  async tampered(_input: NoInput, ctx: Context) {
    return await this.state(_input, ctx);
  }

  @Tool({ name: 'test_input_required_result_multiple_inputs', description: 'Asks three questions at once' })
  async several(_input: NoInput, ctx: Context) {
    const [name, greeting, roots] = await Promise.all([
      ctx.elicit(UserName, ASK_NAME),
      ctx.sample({ messages: 'Generate a greeting', maxTokens: 50, key: 'greeting' }),
      ctx.roots({ key: 'client_roots' }),
    ]);
    return `${name.action}: ${greeting.text}, ${roots.length} roots`;
  }

  @Tool({ name: 'test_input_required_result_multi_round', description: 'Asks two questions in sequence' })
  async rounds(_input: NoInput, ctx: Context) {
    const first = await ctx.elicit(UserName, { message: 'Step 1: What is your name?', key: 'step1' });
    const second = await ctx.elicit(Color, { message: 'Step 2: What is your favorite color?', key: 'step2' });
    return `Done: ${JSON.stringify([first, second])}`;
  }

  @Tool({ name: 'test_input_required_result_capabilities', description: 'Asks only what the client can answer' })
  async capabilities(_input: NoInput, ctx: Context) {
    if (ctx.client.capabilities.sampling) return await this.capital(_input, ctx);
    return await this.name(_input, ctx);
  }

  @Tool({ name: 'test_streaming_elicitation', description: 'Asks while it streams' })
  async streaming(_input: NoInput, ctx: Context) {
    ctx.progress(1, 2, 'Before the question');
    const answer = await ctx.elicit(Confirmation, { message: 'Continue?', key: 'go_on' });
    ctx.progress(2, 2, 'After the question');
    return `The answer was ${answer.action}.`;
  }

  @Prompt({ name: 'test_input_required_result_prompt', description: 'Asks before it returns messages' })
  async prompt(_input: NoInput, ctx: Context) {
    const answer = await ctx.elicit(Background, { message: 'What should the prompt know?', key: 'user_context' });
    return `The user says: ${JSON.stringify(answer)}`;
  }
}
