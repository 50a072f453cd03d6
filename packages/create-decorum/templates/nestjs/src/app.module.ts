import { McpModule } from '@decorum/nestjs';
import { Module } from '@nestjs/common';

import { Weather, WeatherApi } from './weather.js';

const { ALLOWED_HOSTS = '' } = process.env;

@Module({
  imports: [
    McpModule.forRoot({
      name: '{{name}}',
      version: '1.0.0',
      allowedHosts: ALLOWED_HOSTS.split(',').filter(Boolean),
    }),
  ],
  providers: [Weather, WeatherApi],
})
export class AppModule {}
