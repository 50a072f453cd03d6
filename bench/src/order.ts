import { Type } from 'class-transformer';
import { IsArray, IsBoolean, IsDate, IsIn, IsInt, IsNumber, IsString, ValidateNested } from 'class-validator';

/** Who ordered. */
export class Customer {
  @IsString() name!: string;
  @IsString() email!: string;
  @IsNumber() age!: number;
}

/** Where an order goes. */
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

/** A DTO as servers have them: scalars, a date, a closed set, nested objects and a list of them. */
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
