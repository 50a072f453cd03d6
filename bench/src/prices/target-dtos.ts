import { ArrayOf, Choices, DateOnly, RecordOf, Schema } from '@decorum/core';
import { Expose, Transform, Type } from 'class-transformer';
import {
  ArrayContains,
  ArrayMaxSize,
  ArrayUnique,
  Contains,
  Equals,
  IsBase64,
  IsDate,
  IsEmail,
  IsFQDN,
  IsIBAN,
  IsIn,
  IsInt,
  IsIP,
  IsISO8601,
  IsJSON,
  IsMobilePhone,
  IsNotEmpty,
  IsOptional,
  IsPositive,
  IsSemVer,
  IsString,
  IsStrongPassword,
  IsUrl,
  IsUUID,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  NotEquals,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';

// DTO classes that use each feature of the schemas at least once. All fields are optional, so the search can combine them.

const CODES = Array.from({ length: 250 }, (_, index) => `code-${index}`);

/** Strings with a format, alone and in lists. */
export class Formats {
  @IsOptional() @IsEmail() email?: string;
  @IsOptional() @IsUrl() url?: string;
  @IsOptional() @IsFQDN() host?: string;
  @IsOptional() @IsIP() ip?: string;
  @IsOptional() @IsISO8601({ strict: true }) iso?: string;
  @IsOptional() @IsJSON() json?: string;
  @IsOptional() @IsBase64() base64?: string;
  @IsOptional() @IsMobilePhone() phone?: string;
  @IsOptional() @IsSemVer() version?: string;
  @IsOptional() @IsStrongPassword() password?: string;
  @IsOptional() @IsIBAN() iban?: string;
  @IsOptional() @IsUUID() uuid?: string;
  @IsOptional() @Matches(/\s+$/) trailing?: string;
  @IsOptional() @Matches(/^(?:[\w-]+\.)*\w+$/i) dotted?: string;
  @IsOptional() @Contains('needle') haystack?: string;
  @IsOptional() @Length(2, 20_000) emoji?: string;
  @IsOptional() @IsDate() when?: Date;
  @IsOptional() @DateOnly() day?: string;
  @IsOptional() @ArrayOf(BigInt) numbers?: bigint[];
  @IsOptional() bytes?: Uint8Array;
  @IsOptional() @IsEmail({}, { each: true }) emails?: string[];
  @IsOptional() @IsUrl({}, { each: true }) urls?: string[];
  @IsOptional() @IsMobilePhone(undefined, {}, { each: true }) phones?: string[];
  @IsOptional() @Matches(/^[a-z]+(?:-[a-z]+)*$/, { each: true }) slugs?: string[];
}

class Item {
  @IsString() @MaxLength(40) sku!: string;
  @IsInt() @Min(1) @Max(99) count!: number;
  @IsOptional() @NotEquals('none') note?: string;
  @IsOptional() @IsIn(CODES, { each: true }) codes?: string[];
}

class Box {
  @IsOptional() @ArrayOf(Item) items?: Item[];
  @IsOptional() @ArrayOf(Box) boxes?: Box[];
  @IsOptional() @IsString() label?: string | null;
}

/** Nested lists, and lists of unique values, choices, dates and arbitrary values. */
export class Lists {
  @IsOptional() @ArrayOf(Item) items?: Item[];
  @IsOptional() @IsIn(CODES, { each: true }) codes?: string[];
  @IsOptional() @ArrayUnique() @ArrayMaxSize(5000) @IsString({ each: true }) tags?: string[];
  @IsOptional() @ArrayUnique() @Type(() => Object) anything?: unknown[];
  @IsOptional() @ArrayContains(['a', 'b', 'c']) @IsString({ each: true }) letters?: string[];
  @IsOptional() @Choices({ c: 'Celsius', f: 'Fahrenheit' }, { each: true }) degrees?: string[];
  @IsOptional() @ArrayOf(Date) dates?: Date[];
  @IsOptional() @NotEquals(7, { each: true }) @IsInt({ each: true }) numbers?: number[];
  @IsOptional() @ValidateNested() box?: Box;
  @IsOptional() @IsNotEmpty({ each: true }) @IsString({ each: true }) texts?: string[];
}

class Circle {
  @Equals('circle') readonly kind = 'circle';
  @IsPositive() radius!: number;
  @IsOptional() @ArrayOf(Item) items?: Item[];
}

class Square {
  @Equals('square') readonly kind = 'square';
  @IsPositive() side!: number;
}

const SHAPES = {
  discriminator: {
    property: 'kind',
    subTypes: [
      { value: Circle, name: 'circle' },
      { value: Square, name: 'square' },
    ],
  },
  keepDiscriminatorProperty: true,
};

/** Unions with and without a discriminator, records, and schemas of single fields. */
export class Unions {
  @IsOptional() @ValidateNested() @Type(() => Object, SHAPES) shape?: Circle | Square;
  @IsOptional() @ValidateNested({ each: true }) @Type(() => Object, SHAPES) shapes?: (Circle | Square)[];
  @IsOptional() @RecordOf(Number) @Min(0, { each: true }) prices?: Record<string, number>;
  @IsOptional() @RecordOf(Item) stock?: Record<string, Item>;
  @IsOptional()
  @Schema({ anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'array', items: { type: 'null' } }] })
  id?: unknown;
  @IsOptional()
  @Schema({
    type: 'array',
    items: {
      oneOf: Array.from({ length: 12 }, (_, index) => ({
        type: 'object',
        properties: { kind: { const: `kind${index}` }, value: { type: index % 2 ? 'string' : 'integer' } },
        required: ['kind', 'value'],
      })),
    },
  })
  kinds?: unknown[];
}

class Converted {
  @Expose() @IsString() name!: string;
  @IsOptional() @Transform(({ value }) => String(value).trim()) @MaxLength(40) text?: string;
  @IsOptional() @ArrayOf(Item) items?: Item[];
  @IsOptional() @ArrayOf(Converted) inner?: Converted[];
}

/** Classes that need class-transformer. */
export class Transforms {
  @IsOptional() @ArrayOf(Converted) converted?: Converted[];
  @IsOptional()
  @Transform(({ value }) => (Array.isArray(value) ? value : [value]))
  @IsString({ each: true })
  tags?: string[];
  @IsOptional() @ValidateNested() one?: Converted;
}

const IsEven = () => ValidateBy({ name: 'isEven', validator: { validate: (value) => Number(value) % 2 === 0 } });

class Odd {
  @IsEven() @IsInt() even!: number;
  @IsOptional() @ArrayOf(Item) items?: Item[];
  @IsOptional() @IsIn(CODES, { each: true }) codes?: string[];
  @IsOptional() @ArrayOf(Odd) inner?: Odd[];
}

/** Classes that class-validator itself validates. */
export class Customs {
  @IsOptional() @ArrayOf(Odd) odds?: Odd[];
  @ValidateIf((it: Customs) => it.name !== undefined) @IsString() @MaxLength(20) name?: string;
  @IsOptional() @RecordOf(Item) stock?: Record<string, Item>;
  @IsOptional() @ArrayUnique((item: Item) => item.sku) @ArrayOf(Item) items?: Item[];
}
