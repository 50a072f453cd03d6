import { Context, NoInput, Tool } from '@decorum/core';

const CHOICES = ['option1', 'option2', 'option3'];
const TITLED = CHOICES.map((choice, index) => ({ const: choice, title: `Option ${index + 1}` }));

/** A form with a default for each kind of field. Use a JSON Schema if a DTO can't express the form. */
const DEFAULTS = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

/** A form with every kind of choice. */
const ENUMS = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: CHOICES },
    titledSingle: { type: 'string', oneOf: TITLED },
    legacyEnum: { type: 'string', enum: CHOICES, enumNames: ['Option 1', 'Option 2', 'Option 3'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: CHOICES } },
    titledMulti: { type: 'array', items: { anyOf: TITLED } },
  },
};

/** Tools with unusual forms. */
export class Forms {
  @Tool({ name: 'test_elicitation_sep1034_defaults', description: 'Shows a form with defaults for all fields' })
  async defaults(_input: NoInput, ctx: Context) {
    return await ctx.elicit(DEFAULTS, { message: 'Please check the defaults' });
  }

  @Tool({ name: 'test_elicitation_sep1330_enums', description: 'Shows a form with every kind of choice' })
  async enums(_input: NoInput, ctx: Context) {
    return await ctx.elicit(ENUMS, { message: 'Please choose' });
  }
}
