import { DecorumError, startupError } from '../errors.js';
import { isObject, type JsonObject } from '../values/json.js';
import type { Class } from '../metadata/store.js';
import type { Direction, TypeFact } from '../rules/class-facts.js';
import type { FieldModel, Tag, UnionModel } from './class-model.js';

const wrong = (where: string, problem: string, remedy: string): DecorumError =>
  startupError('DECORUM_INVALID_FIELD', where, `@Type ${problem}`, remedy);

/**
 * Whether a value can be the name of a property or class. Names that every object inherits, such as `toString`, can't:
 * looking one up would find the inherited member.
 */
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '' && !(value in {});

/**
 * The classes of a union, from the discriminator of class-transformer's `@Type`.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function variantsOf({ discriminator, keepsDiscriminator }: TypeFact, where: string): { cls: Class; tag: Tag }[] {
  const { property, subTypes } = isObject(discriminator) ? discriminator : {};
  if (!isName(property))
    throw wrong(where, 'has a discriminator without a usable property', "Write `property: 'kind'`.");
  if (!Array.isArray(subTypes) || subTypes.length === 0) {
    throw wrong(where, 'has a discriminator without classes', "Write `subTypes: [{ value: Circle, name: 'circle' }]`.");
  }
  const names = new Set<unknown>();
  return subTypes.map((subType: unknown) => {
    const { value, name } = isObject(subType) ? subType : {};
    if (typeof value !== 'function')
      throw wrong(where, 'has a subtype without a class', "Write `{ value: Circle, name: 'circle' }`.");
    if (!isName(name) || names.has(name)) {
      throw wrong(where, `gives ${value.name} the name ${JSON.stringify(name)}`, 'Give each class a unique name.');
    }
    names.add(name);
    return { cls: value as Class, tag: { property, name, isKept: keepsDiscriminator } };
  });
}

/** Whether a declared property accepts the discriminator's value. */
function admits({ type, enum: values, const: only }: JsonObject, name: string): boolean {
  if (type !== undefined && ![type].flat().includes('string')) return false;
  return only === undefined ? !Array.isArray(values) || values.includes(name) : only === name;
}

/**
 * The fields of a class in a union, with the discriminator first.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD` if the class's own rules reject the discriminator's value
 */
export function taggedFields(cls: Class, fields: readonly FieldModel[], { property, name, isKept }: Tag): FieldModel[] {
  const declared = fields.find(({ key }) => key === property);
  if (declared !== undefined && !admits(declared.schema, name)) {
    throw wrong(
      `${cls.name}.${property}`,
      `names the class "${name}", but the rules of this field reject that value`,
      'Make them agree.',
    );
  }
  const { title, description } = declared?.schema ?? {};
  const schema = {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    type: 'string',
    const: name,
  };
  const field = { key: property, wire: property, schema, isRequired: true, dropsNull: false, convert: undefined };
  return [
    { ...field, isDeclared: declared !== undefined, isDropped: declared === undefined && !isKept },
    ...fields.filter((other) => other !== declared),
  ];
}

/** The schema of a union. `discriminator` tells ajv which class to validate against; it is not published. */
export function unionSchema({ property, variants }: UnionModel, schemas: readonly JsonObject[]): JsonObject {
  const discriminator = { propertyName: property, names: [...variants.keys()], toJSON: () => undefined };
  return { type: 'object', discriminator, oneOf: schemas };
}

/** Whether two tags are equal. */
export function isSameTag(a: Tag | undefined, b: Tag | undefined): boolean {
  return a?.property === b?.property && a?.name === b?.name && a?.isKept === b?.isKept;
}

/**
 * Requires the classes of a result to declare the discriminator, because nothing adds it to results.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD` if the class lacks the field
 */
export function requireDeclared(cls: Class, [field]: readonly FieldModel[], { property, name }: Tag): void {
  if (field?.isDeclared === true) return;
  const remedy = `Declare it: \`@Equals('${name}') readonly ${property} = '${name}'\``;
  throw wrong(`${cls.name}.${property}`, `has a discriminator that results of this class lack`, `${remedy}.`);
}

/** The error for a class of a union that needs class-transformer, because of @Transform, @Expose or @Exclude. */
export function transformerProblem(
  cls: Class,
  { fields: [field], tag, direction }: { fields: readonly FieldModel[]; tag: Tag; direction: Direction },
): DecorumError | undefined {
  const where = `${cls.name}.${tag.property}`;
  if (direction === 'output') {
    return wrong(
      where,
      'combines a discriminator with @Transform, @Expose or @Exclude',
      'Remove these decorators from the classes of the result.',
    );
  }
  if (field?.isDeclared !== true || tag.isKept) return undefined;
  const remedy = 'Add `keepDiscriminatorProperty: true` to the options of @Type';
  return wrong(where, 'has a discriminator that class-transformer removes before the rules see it', `${remedy}.`);
}
