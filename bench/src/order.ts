import { Type } from 'class-transformer';
import { IsArray, IsBoolean, IsDate, IsIn, IsInt, IsNumber, IsString, ValidateNested } from 'class-validator';

/** The buyer. */
export class Customer {
  @IsString() name!: string;
  @IsString() email!: string;
  @IsNumber() age!: number;
}

/** The delivery address. */
export class Address {
  @IsString() street!: string;
  @IsString() city!: string;
  @IsString() zip!: string;
  @IsString() country!: string;
}

/** One line of an order. */
export class Item {
  @IsString() sku!: string;
  @IsNumber() qty!: number;
  @IsNumber() price!: number;
  @IsString() name!: string;
}

/** A typical DTO: scalars, a date, an enum, nested objects and a list of objects. */
export class Order {
  @IsString() id!: string;
  @IsDate() createdAt!: Date;
  @IsIn(['new', 'paid', 'shipped']) status!: 'new' | 'paid' | 'shipped';
  @IsInt() priority!: number;
  @IsBoolean() gift!: boolean;
  @IsString() note!: string;
  @IsString() currency!: string;
  @IsNumber() total!: number;
  @IsArray() @IsString({ each: true }) tags!: string[];
  @ValidateNested() @Type(() => Customer) customer!: Customer;
  @ValidateNested() @Type(() => Address) address!: Address;
  @IsArray() @ValidateNested({ each: true }) @Type(() => Item) items!: Item[];
}
