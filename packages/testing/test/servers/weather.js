// A server with one member for each matcher. Plain JavaScript, because tests also start it as a program.
import { image, McpServer, NoInput, Prompt, Resource, Tool, ToolError } from '@decorum/core';

const CITY = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const FORECAST = { type: 'object', properties: { sky: { type: 'string' }, degrees: { type: 'number' } } };
/** One white pixel. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

class Weather {
  forecast({ city }) {
    if (city === 'Atlantis') throw new ToolError('There is no weather in Atlantis.');
    return { sky: `snow in ${city}`, degrees: -3 };
  }

  map() {
    return [image(PIXEL, 'image/png')];
  }

  hours() {
    return [6, 12, 18];
  }

  async guess(_input, ctx) {
    const { text } = await ctx.sample({ messages: 'Will it snow?', maxTokens: 5 });
    return `The model says ${text}.`;
  }

  async book(_input, ctx) {
    const seat = await ctx.elicit(
      { type: 'object', properties: { seat: { type: 'string' } }, required: ['seat'] },
      { message: 'Which seat?' },
    );
    if (seat.action !== 'accept') return `Not booked: ${seat.action}.`;
    return (await ctx.confirm(`Pay for ${seat.content.seat}?`)) ? `Booked ${seat.content.seat}.` : 'Not paid.';
  }

  caller(_input, ctx) {
    return `${ctx.principal?.subject ?? 'nobody'} over ${ctx.transport.kind}`;
  }

  route({ region }) {
    return `in ${region}`;
  }

  today() {
    return '{"sky":"snow"}';
  }

  station({ city }) {
    return `station of ${city}`;
  }

  pack({ city }) {
    return `What do I pack for ${city}?`;
  }
}

const decorate = (decorator, name) =>
  decorator(Weather.prototype, name, Object.getOwnPropertyDescriptor(Weather.prototype, name));

const REGION = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };

decorate(
  Tool({ description: 'Forecast for a city', annotations: { readOnlyHint: true }, input: CITY, output: FORECAST }),
  'forecast',
);
decorate(Tool({ description: 'Draws a map' }), 'map');
decorate(Tool({ description: 'Hours', output: { type: 'array', items: { type: 'number' } } }), 'hours');
decorate(Tool({ description: 'Asks the model', input: NoInput }), 'guess');
decorate(Tool({ description: 'Asks the user', input: NoInput }), 'book');
decorate(Tool({ description: 'Says who calls', input: NoInput }), 'caller');
decorate(Tool({ description: 'Is routed by region', input: REGION }), 'route');
decorate(Resource('weather://today', { title: 'Today', mimeType: 'application/json' }), 'today');
decorate(Resource('weather://{city}/station', { input: CITY, description: 'A station' }), 'station');
decorate(Prompt({ description: 'What to pack', input: CITY }), 'pack');

export const createServer = (options = {}) =>
  new McpServer({
    name: 'weather',
    version: '1.0.0',
    secret: 'a secret for tests that nobody guesses',
    providers: [Weather],
    ...options,
  });
