import { Context, McpServer, NoInput, Prompt, Tool } from '@decorum/core';

/** What the team that helps customers does. */
class Support {
  @Tool({ description: 'Offers the tools for administrators in this session' })
  async administer(_input: NoInput, { visibility }: Context) {
    await visibility.show('admin');
    return 'The tools for administrators are listed now.';
  }

  @Tool({
    name: 'close_all',
    description: 'Closes all tickets',
    tags: ['admin'],
    scopes: ['admin'],
    annotations: { destructiveHint: true },
  })
  closeAll() {
    return 'All tickets are closed.';
  }

  @Prompt({ description: 'Writes a reply to a customer' })
  reply() {
    return 'Write a friendly reply to the customer, in three sentences.';
  }
}

/** Another server, of another team. */
export const support = new McpServer({ name: 'support', version: '1.0.0', providers: [Support] });
