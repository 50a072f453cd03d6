import { Describe, type Lifecycle, McpHeader, type McpServer, type Notifier, Tool } from '@decorum/core';
import { IsOptional, IsString } from 'class-validator';

class Place {
  @Describe('Clients repeat it in the header Mcp-Param-Region')
  @McpHeader('Region')
  @IsOptional()
  @IsString()
  region?: string;
}

/** Tools that change the server, and a tool that can be routed by its arguments. */
export class Triggers implements Lifecycle {
  private notify: Notifier | undefined;

  onStart({ notify }: McpServer) {
    this.notify = notify;
  }

  @Tool({ name: 'test_trigger_tool_change', description: 'Notifies clients of changed tools' })
  toolChange() {
    this.notify?.toolsChanged();
    return 'The tools have changed.';
  }

  @Tool({ name: 'test_trigger_prompt_change', description: 'Notifies clients of changed prompts' })
  promptChange() {
    this.notify?.promptsChanged();
    return 'The prompts have changed.';
  }

  @Tool({ name: 'test_x_mcp_header', description: 'Takes a region that a proxy can route by' })
  header({ region = 'nowhere' }: Place) {
    return `The region is ${region}.`;
  }
}
