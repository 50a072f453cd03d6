import type { Class } from '@decorum/core';
import { HOST, scanMembers, startupError } from '@decorum/core/transport';
import type { Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';

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

/** The modules to search. */
export interface Selection {
  readonly include?: readonly Type[];
  readonly exclude?: readonly Type[];
}

/**
 * The class of a provider or controller. If a factory creates an instance for each request, this is the provider's
 * token, if that is a class. Undefined for values without a class.
 */
function classOf(wrapper: InstanceWrapper): Class | undefined {
  const { metatype, isNotMetatype, token } = wrapper;
  const made = (wrapper.instance as object | null | undefined)?.constructor;
  const factoryClass = made ?? (wrapper.isDependencyTreeStatic() ? undefined : token);
  const found: unknown = isNotMetatype ? factoryClass : (metatype ?? made);
  return typeof found === 'function' && typeof found.prototype === 'object' ? (found as unknown as Class) : undefined;
}

function isTarget({ wrapper, cls }: { wrapper: InstanceWrapper; cls: Class | undefined }): boolean {
  if (cls === undefined || wrapper.isAlias || HOST in (cls.prototype as object)) return false;
  if (typeof wrapper.instance === 'object' && wrapper.instance !== null && HOST in wrapper.instance) return false;
  return scanMembers(cls).length > 0;
}

function targetsIn(module: Module): Target[] {
  return [module.providers, module.controllers].flatMap((found) => {
    const collection = found as Map<unknown, InstanceWrapper>;
    return [...collection.values()].flatMap((wrapper) => {
      const cls = classOf(wrapper);
      return isTarget({ wrapper, cls }) ? [{ cls: cls as Class, module, wrapper, collection }] : [];
    });
  });
}

/**
 * Finds all providers and controllers with decorated members.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a module that the application does not have
 */
export function findTargets(modules: ModulesContainer, { include, exclude = [] }: Selection): Target[] {
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
  return all
    .filter(({ metatype }) => (include ?? [metatype]).includes(metatype) && !exclude.includes(metatype))
    .flatMap(targetsIn);
}
