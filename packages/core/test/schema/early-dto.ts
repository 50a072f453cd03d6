import { IsInt, IsNotEmpty, IsOptional, IsString, ValidateNested } from 'class-validator';

// As many DTO files are: nothing of Decorum is imported, so a test can evaluate this file before Decorum.

export class EarlyQuery {
  @IsNotEmpty() count!: number;
}

export class EarlyPlace {
  @IsString() name!: string;
}

export class EarlyRoute {
  @ValidateNested() start!: EarlyPlace;
}

export class EarlyPage {
  @IsString() query!: string;
  @IsOptional() @IsInt() limit = 10;
  @IsOptional() @IsString({ each: true }) tags?: string[];
}
