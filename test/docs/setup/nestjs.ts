import { Tool } from '@decorum/core';

/** A second provider. */
export class Operations {
  @Tool({ description: 'Restarts the stations' }) restart() {}
}

export { Weather } from './weather.js';

export class WeatherApi {}

/** A strategy of passport. */
export class JwtStrategy {}

export class AuthModule {}
