// `decorum add` in a Nest project, whose modules have providers of their own.
import { afterEach, expect, it } from '@jest/globals';

import { createProject, type Project } from './project.js';

let project: Project;
afterEach(() => project.remove());

it('adds to the class with members, not to the other providers of a Nest module (#23)', async () => {
  project = createProject({
    'package.json': { type: 'module', devDependencies: { vitest: '^4.0.0' } },
    'src/app.module.ts': `
      import { Module } from '@nestjs/common';
      import { Weather, WeatherApi } from './weather.js';
      @Module({ providers: [Weather, WeatherApi] })
      export class AppModule {}`,
    'src/weather.ts': `import { Tool } from '@decorum/core';
export class WeatherApi {}
export class Weather {
  @Tool({ description: 'Now' })
  now() {
    return 'sun';
  }
}
`,
  });
  expect(await project.decorum(['add', 'tool', 'alerts'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Weather.alerts'),
    stderr: '',
  });
});
