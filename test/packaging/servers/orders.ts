import { Describe, McpServer, Tool } from '@decorum/core';
import { Expose, Transform, Type } from 'class-transformer';
import {
  IsArray,
  IsDate,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Matches,
  Min,
  registerDecorator,
  ValidateNested,
} from 'class-validator';

/** A custom asynchronous rule. */
const InStock = () => (target: object, propertyName: string) =>
  registerDecorator({
    target: target.constructor,
    propertyName,
    options: { message: 'must be in stock' },
    validator: { validate: async (sku: unknown) => sku !== 'gone' },
  });

class Price {
  @IsNumber()
  amount!: number;

  @IsIn(['EUR', 'NOK'])
  currency: 'EUR' | 'NOK' = 'EUR';

  toString() {
    return `${this.amount} ${this.currency}`;
  }
}

class Line {
  @Describe('Stock-keeping unit')
  @InStock()
  @Matches(/^[a-z]+$/)
  sku!: string;

  @IsInt()
  @Min(1)
  quantity = 1;

  @ValidateNested()
  price!: Price;
}

class Order {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => Line)
  lines!: Line[];

  @IsDate()
  due!: Date;
}

class Customer {
  @IsString()
  @Transform(({ value }) => String(value).trim())
  name!: string;

  @Expose({ name: 'mail' })
  @IsString()
  email!: string;

  @ValidateNested()
  @Type(() => Price)
  credit!: Price;
}

class Category {
  @IsString()
  name!: string;

  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => Category)
  children?: Category[];
}

class Count {
  @IsInt()
  names!: number;
}

const countOf = ({ children = [] }: Category): number => children.reduce((sum, child) => sum + countOf(child), 1);

class Shop {
  @Tool({ input: Order })
  order({ lines, due }: Order) {
    return `${due.getFullYear()}: ${lines.map(({ sku, quantity, price }) => `${quantity} ${sku} at ${price}`).join()}`;
  }

  @Tool({ input: Customer })
  register({ name, email, credit }: Customer) {
    return `[${name}] ${email} ${credit}`;
  }

  @Tool({ input: Category, output: Count })
  count(category: Category): Count {
    return { names: countOf(category) };
  }

  @Tool({ input: { type: 'object', properties: { site: { type: 'string', format: 'uri' } }, required: ['site'] } })
  visit({ site }: { site: string }) {
    return site;
  }
}

/** A server whose schemas use all features of class-validator and class-transformer. */
export const server = new McpServer({ name: 'orders', version: '1.0.0', providers: [Shop] });
