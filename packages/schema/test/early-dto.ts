import { IsInt, IsNotEmpty, IsOptional, IsString, ValidateNested } from 'class-validator';

// Like many DTO files, this one doesn't import Decorum, so a test can load it before Decorum.

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
