import { RequestMethod } from '@nestjs/common';
import type { ApplicationConfig } from '@nestjs/core';

/** A path with the global prefix of the application, unless the application excludes all its methods from the prefix. */
export function prefixed(path: string, config: ApplicationConfig): string {
  const prefix = config.getGlobalPrefix().replaceAll(/^\/+|\/+$/g, '');
  const { exclude = [] } = config.getGlobalPrefixOptions();
  const isExcluded = exclude.some(
    ({ pathRegex, requestMethod }) => requestMethod === RequestMethod.ALL && pathRegex.test(path),
  );
  return prefix === '' || isExcluded ? path : `/${prefix}${path === '/' ? '' : path}`;
}
