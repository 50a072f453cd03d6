import { IsNumber } from 'class-validator';

export { City } from './weather.js';

export class Forecast {
  @IsNumber() degrees!: number;
}

export declare class Self {
  readonly api: { forecast(city: string): Forecast };
}
