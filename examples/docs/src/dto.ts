import { Describe } from '@decorum/core';
import { Type } from 'class-transformer';
import { IsInt, IsNotEmpty, IsOptional, IsString, Max, MaxLength, Min, ValidateNested } from 'class-validator';

export class PagePath {
  @Describe({ description: 'Path of a page, as search and resources/list give it', examples: ['guide/start.md'] })
  @IsString()
  path!: string;
}

export class PagePart extends PagePath {
  @Describe('Anchor of a heading, as search gives it in "section"; without it, the whole page is read')
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
    description: 'Words to look for; beginnings and small misspellings match too',
    examples: ['session timeout'],
  })
  @IsString()
  @IsNotEmpty()
  @MaxLength(200)
  query!: string;

  @Describe('How many results to return')
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

  @Describe('The heading above the text that was found')
  @IsString()
  heading!: string;

  @Describe('Anchor of that heading; empty at the top of the page')
  @IsString()
  section!: string;

  @IsString()
  snippet!: string;
}

export class SearchResult {
  @Describe('How many sections match')
  @IsInt()
  total!: number;

  @Describe('The best of them, best first')
  @ValidateNested({ each: true })
  @Type(() => SearchHit)
  hits!: SearchHit[];
}
