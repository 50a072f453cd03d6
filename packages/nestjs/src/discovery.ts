import type { Class } from '@decorum/core';
import { scanMembers } from '@decorum/core/internal';
import { HOST } from '@decorum/core/transport';
import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';

import { startupError } from './errors.js';
import { isServedBy, type Named } from './for-mcp-server.js';

/** A provider or controller with decorated members. */
export interface Target {
  readonly cls: Class;
  readonly module: Module;
  readonly wrapper: InstanceWrapper;
  /** The module's providers or controllers. */
  readonly collection: Map<unknown, InstanceWrapper>;
  /** Whether the members are functions, such as those of `addTool`, in a class that stands in for theirs. */
  readonly isOfFunctions?: boolean;
}

/** What a server serves. */
export interface Selection {
  readonly include?: readonly Type[];
  readonly exclude?: readonly Type[];
  readonly server: Named;
}

/**
 * The classes that may declare the members of a provider, best first: the class of its instance, and its token, which is
 * all there is if a factory creates an instance for each request. A mock, for example, may have only the token.
 */
function classesOf({ metatype, isNotMetatype, token, instance }: InstanceWrapper): unknown[] {
  const made = (instance as object | null | undefined)?.constructor;
  return [isNotMetatype ? made : (metatype ?? made), token];
}

const isClass = (found: unknown): found is Class =>
  typeof found === 'function' && typeof found.prototype === 'object' && found.prototype !== null;

/** The class whose members a provider or controller serves, if any. */
function servedClass(wrapper: InstanceWrapper): Class | undefined {
  const instance: unknown = wrapper.instance;
  const hasInstance = typeof instance === 'object' && instance !== null;
  if (wrapper.isAlias || (hasInstance && HOST in instance)) return undefined;
  // a factory returned nothing to call
  if (wrapper.isNotMetatype && !hasInstance && wrapper.isDependencyTreeStatic()) return undefined;
  const found = classesOf(wrapper).filter(isClass);
  if (found.some(({ prototype }) => HOST in (prototype as object))) return undefined;
  return found.find((cls) => scanMembers(cls).length > 0);
}

function targetsIn(module: Module): Target[] {
  return [module.providers, module.controllers].flatMap((found) => {
    const collection = found as Map<unknown, InstanceWrapper>;
    return [...collection.values()].flatMap((wrapper) => {
      const cls = servedClass(wrapper);
      return cls === undefined ? [] : [{ cls, module, wrapper, collection }];
    });
  });
}

/**
 * Finds all providers and controllers with decorated members that a server serves.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a module that the application does not have,
 *   `DECORUM_MISUSED_DECORATOR` for a server that it does not have
 */
export function findTargets(modules: ModulesContainer, { include, exclude = [], server }: Selection): Target[] {
  const all = [...modules.values()];
  for (const [option, listed] of Object.entries({ include, exclude })) {
    const isMissing = (type: unknown) => !all.some(({ metatype }) => metatype === type);
    if (!listed?.some(isMissing)) continue;
    const missing: unknown = listed.find(isMissing);
    const problem =
      typeof missing === 'function'
        ? `lists ${missing.name}, which the application does not import. Import it, or remove it from \`${option}\``
        : `lists ${String(missing)} instead of a module. Check that the two files do not import each other`;
    throw startupError('DECORUM_INVALID_OPTION', 'McpModule', option, problem);
  }
  const isSelected = ({ metatype }: Module) =>
    (include ?? [metatype]).includes(metatype) && !exclude.includes(metatype);
  return all.flatMap(targetsIn).filter(({ cls, module }) => isServedBy(cls, server) ?? isSelected(module));
}
