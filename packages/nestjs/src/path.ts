import { RequestMethod } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';

/** Adds the application's global prefix to a path, unless the application excludes the path for all methods. */
export function prefixed(path: string, config: ApplicationConfig): string {
  const prefix = config.getGlobalPrefix().replaceAll(/^\/+|\/+$/g, '');
  const { exclude = [] } = config.getGlobalPrefixOptions();
  const isExcluded = exclude.some(
    ({ pathRegex, requestMethod }) => requestMethod === RequestMethod.ALL && pathRegex.test(path),
  );
  return prefix === '' || isExcluded ? path : `/${prefix}${path === '/' ? '' : path}`;
}
