import { IsString } from 'class-validator';

export { Weather as Shop } from './weather.js';

export class Address {
  @IsString() city!: string;
}
