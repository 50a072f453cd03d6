import { ArrayOf, Describe } from '@decorum/core';
import { Type } from 'class-transformer';
import { ArrayNotEmpty, IsBoolean, IsIn, IsInt, IsOptional, IsString, Min, ValidateNested } from 'class-validator';

const SORT_KEYS = ['name', 'size'] as const;

export class Path {
  @Describe('Absolute, or relative to an allowed directory') @IsString() path!: string;
}

export class Paths {
  @Describe('Absolute, or relative to an allowed directory') @ArrayOf(String) @ArrayNotEmpty() paths!: string[];
}

export class TextFile extends Path {
  @Describe('Read the first lines only: how many') @IsOptional() @IsInt() @Min(1) head?: number;
  @Describe('Read the last lines only: how many') @IsOptional() @IsInt() @Min(1) tail?: number;
}

export class NewFile extends Path {
  @Describe('The whole text of the file') @IsString() content!: string;
}

export class Edit {
  @Describe('Text to replace, as it is in the file') @IsString() oldText!: string;
  @Describe('Text to put in its place') @IsString() newText!: string;
}

export class FileEdits extends Path {
  @Describe('Made in this order') @ArrayOf(Edit) edits!: Edit[];
  @Describe('Return the diff without changing the file') @IsBoolean() dryRun: boolean = false;
}

export class SortedFolder extends Path {
  @Describe('What entries are sorted by') @IsIn(SORT_KEYS) sortBy: (typeof SORT_KEYS)[number] = 'name';
}

export class Folder extends Path {
  @Describe('Globs to leave out; a plain name matches at any depth') @ArrayOf(String) excludePatterns: string[] = [];
}

export class Search extends Folder {
  @Describe('Glob to find: *.md for the directory itself, **/*.md for all below') @IsString() pattern!: string;
}

export class Move {
  @Describe('What to move: absolute, or relative to an allowed directory') @IsString() source!: string;
  @Describe('Where to, with the new name. Nothing may be there') @IsString() destination!: string;
}

export class Text {
  @IsString() content!: string;
}

class Inline {
  @IsIn(['image', 'audio']) type!: 'image' | 'audio';
  @Describe('Base64') @IsString() data!: string;
  @IsString() mimeType!: string;
}

class Blob {
  @IsString() uri!: string;
  @IsString() mimeType!: string;
  @Describe('Base64') @IsString() blob!: string;
}

class Embedded {
  @IsIn(['resource']) type!: 'resource';
  @ValidateNested() resource!: Blob;
}

export class Media {
  @ValidateNested({ each: true })
  @Type(() => Object, {
    discriminator: {
      property: 'type',
      subTypes: [
        { value: Inline, name: 'image' },
        { value: Inline, name: 'audio' },
        { value: Embedded, name: 'resource' },
      ],
    },
    keepDiscriminatorProperty: true,
  })
  content!: (Inline | Embedded)[];
}
