import { McpModule } from '@decorum/nestjs';
import { Module } from '@nestjs/common';

import { Weather, WeatherApi } from './weather.js';

@Module({
  imports: [McpModule.forRoot({ name: 'weather', version: '1.0.0' })],
  providers: [Weather, WeatherApi],
})
export class AppModule {}
