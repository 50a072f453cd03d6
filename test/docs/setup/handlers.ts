import { IsString } from 'class-validator';

export { Weather as Notes } from './weather.js';

export class MoveInput {
  @IsString({ each: true }) files!: string[];
  @IsString() to!: string;
}

export const moveFile = async (_file: string, _to: string): Promise<void> => {};

export class Place {
  @IsString() city!: string;
}

export class Forecast extends Place {
  @IsString() summary!: string;
}

export class NoteId {
  @IsString() id!: string;
}

export declare class Self {
  readonly api: { forecast(city: string): Promise<Forecast> };
  readonly store: {
    get(id: string): Promise<{ readonly text: string } | undefined>;
    ids(): Promise<string[]>;
  };
}

export class NoteNotFound extends Error {
  constructor(readonly id: string) {
    super();
  }
}

export class QuotaExceeded extends Error {}
export class Forbidden extends Error {
  readonly status = 403;
}
