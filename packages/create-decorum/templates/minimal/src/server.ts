import { Describe, McpServer, Tool } from '@decorum/core';
import { IsString, MaxLength } from 'class-validator';

class Greeting {
  @Describe('Who to greet')
  @IsString()
  @MaxLength(80)
  name!: string;
}

class Greeter {
  @Tool({ description: 'Greets somebody by name', annotations: { readOnlyHint: true } })
  greet({ name }: Greeting) {
    return `Hello, ${name}!`;
  }
}

export const server = new McpServer({ name: '{{name}}', version: '1.0.0', providers: [Greeter] });
