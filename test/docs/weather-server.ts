// The server of the pages in docs/protocol. It is small, but shows every difference between revisions.
import { audio, Context, Describe, link, McpServer, NoInput, Prompt, Resource, Tool, toolResult } from '@decorum/core';
import { IsNumber, IsString } from 'class-validator';

const ICON = { src: 'https://example.com/sun.png', mimeType: 'image/png' };

class City {
  @Describe('City, for example "Oslo"')
  @IsString()
  city!: string;
}

class Forecast {
  @IsNumber()
  degrees!: number;
}

const PLAN = {
  type: 'object',
  properties: {
    day: {
      type: 'string',
      title: 'Day',
      oneOf: [
        { const: 'sat', title: 'Saturday' },
        { const: 'sun', title: 'Sunday' },
      ],
    },
    bring: { type: 'array', title: 'Bring', items: { type: 'string', enum: ['tent', 'stove'] } },
  },
  required: ['day'],
};

class Weather {
  private server!: McpServer;

  onStart(server: McpServer) {
    this.server = server;
  }

  @Tool({
    title: 'Forecast',
    description: 'Tomorrow’s weather in a city',
    icons: [ICON],
    annotations: { readOnlyHint: true },
    output: Forecast,
  })
  forecast({ city }: City, ctx: Context) {
    ctx.log.info(`Looking up ${city}`);
    ctx.progress(1, 2, 'Asked the station');
    return { degrees: 21.5 };
  }

  @Tool({ description: 'Degrees of the next days', output: { type: 'array', items: { type: 'number' } } })
  week(_city: City) {
    return [21.5, 20, 18.5];
  }

  @Tool({ description: 'The forecast as it was on the radio' })
  broadcast() {
    return [
      audio('UklGRg==', 'audio/wav'),
      link('weather://oslo/archive', { name: 'archive', title: 'All broadcasts', mimeType: 'application/json' }),
    ];
  }

  @Tool({ description: 'The forecast in words', output: Forecast })
  describe() {
    return toolResult({ content: 'A mild day', structuredContent: { degrees: 21.5 } });
  }

  @Tool({ description: 'Plans a trip' })
  async plan({ city }: City, ctx: Context) {
    const answer = await ctx.elicit(PLAN, { message: `When do you go to ${city}?` });
    return answer.action === 'accept' ? answer.content : 'Not planned.';
  }

  @Tool({ description: 'Puts the weather into verse' })
  async rhyme(_input: NoInput, ctx: Context) {
    return (await ctx.sample({ messages: 'Rhyme on sun', maxTokens: 20 })).text;
  }

  @Tool({ description: 'Reads the thermometer' })
  measure() {
    this.server.notify.resourceUpdated('weather://oslo/today');
    return 'Done.';
  }

  @Resource('weather://oslo/today', { name: 'today', title: 'Oslo today', icons: [ICON], mimeType: 'text/plain' })
  today() {
    return 'Sunny';
  }

  @Prompt({ title: 'Pack a bag', description: 'What to pack for a city' })
  pack({ city }: City) {
    return `What should I pack for a day in ${city}?`;
  }
}

/** Creates the server for the conversations on the pages. */
export function weatherServer(): McpServer {
  return new McpServer({
    name: 'weather',
    title: 'Weather desk',
    version: '1.0.0',
    icons: [ICON],
    instructions: 'Ask for one city at a time.',
    providers: [Weather],
    logger: { warn() {}, error() {} },
  });
}
