import { Describe } from '@decorum/core';
import { Type } from 'class-transformer';
import { IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min, ValidateNested } from 'class-validator';

export class PagePath {
  @Describe({ description: 'Path of a page, from search or resources/list', examples: ['guide/start.md'] })
  @IsString()
  path!: string;
}

export class PagePart extends PagePath {
  @Describe('Anchor of a heading, from "section" in search. Omit it to read the whole page')
  @IsOptional()
  @IsString()
  section?: string;
}

export class Topic {
  @Describe('What to explain, for example "completion of arguments"')
  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  topic!: string;
}

export class SearchQuery {
  @Describe({
    description: 'Words to search for. Prefixes and small typos match too',
    examples: ['session timeout'],
  })
  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  query!: string;

  @Describe('Maximum number of results')
  @IsInt()
  @Min(1)
  @Max(50)
  limit: number = 10;
}

export class SearchHit {
  @Describe('URI of the page, for resources/read')
  @IsString()
  uri!: string;

  @IsString()
  path!: string;

  @Describe('Title of the page')
  @IsString()
  title!: string;

  @Describe('Heading of the matching section')
  @IsString()
  heading!: string;

  @Describe('Anchor of the heading; empty at the top of the page')
  @IsString()
  section!: string;

  @IsString()
  snippet!: string;
}

export class SearchResult {
  @Describe('Number of matching sections')
  @IsInt()
  total!: number;

  @Describe('The best matches, best first')
  @ValidateNested({ each: true })
  @Type(() => SearchHit)
  hits!: SearchHit[];
}
