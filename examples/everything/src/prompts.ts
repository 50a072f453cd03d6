import { Completion, Describe, embedded, image, Prompt, user } from '@decorum/core';
import { IsString } from 'class-validator';

import { DOT_PNG } from './media.js';

class TwoArguments {
  @Describe('The first argument')
  @IsString()
  arg1!: string;

  @Describe('The second argument')
  @IsString()
  arg2!: string;
}

class ResourceArgument {
  @Describe('The URI of the resource')
  @IsString()
  resourceUri!: string;
}

/** One prompt of each kind. */
export class Prompts {
  @Prompt({ name: 'test_simple_prompt', description: 'Has no arguments' })
  simple() {
    return 'This is a simple prompt for testing.';
  }

  @Prompt({ name: 'test_prompt_with_arguments', description: 'Has two arguments' })
  withArguments({ arg1, arg2 }: TwoArguments) {
    return `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`;
  }

  @Completion({ for: 'withArguments', argument: 'arg1' })
  firstArgument(typed: string) {
    return ['test', 'test value', 'another value'].filter((value) => value.startsWith(typed));
  }

  @Prompt({ name: 'test_prompt_with_embedded_resource', description: 'Embeds a resource' })
  withResource({ resourceUri }: ResourceArgument) {
    return [
      embedded({ uri: resourceUri, data: 'Embedded resource content for testing.' }),
      'Please process the embedded resource above.',
    ];
  }

  @Prompt({ name: 'test_prompt_with_image', description: 'Contains an image' })
  withImage() {
    return [user(image(DOT_PNG, 'image/png')), user('Please analyze the image above.')];
  }
}
