import { describe, expect, it } from '@jest/globals';

import { QuestionError, link, McpError, ToolError } from '../../src/index.js';

describe('the subclass of an error that a user writes', () => {
  class PaymentError extends ToolError {}
  class QuotaError extends McpError {}

  it('is distinguished from its base and from other subclasses', () => {
    expect(new ToolError('No')).not.toBeInstanceOf(PaymentError);
    expect(new QuestionError('No')).not.toBeInstanceOf(PaymentError);
    expect(new McpError('invalid-params', 'No')).not.toBeInstanceOf(QuotaError);
  });

  it('is still an instance of its base', () => {
    const error = new PaymentError('No');
    expect(error).toBeInstanceOf(PaymentError);
    expect(error).toBeInstanceOf(ToolError);
    expect(error).not.toBeInstanceOf(QuestionError);
  });
});

it('names a link after its URI if the option `name` is undefined', () => {
  const title: { name?: string; title: string } = JSON.parse('{"title":"A"}');
  expect(link('x://a', { ...title, ...({ name: undefined } as object) })).toMatchObject({ name: 'x://a', title: 'A' });
});
