/**
 * A template with all variables renamed to `x`, except query parameters, whose names appear in URIs. Templates of equal
 * shape match the same URIs.
 */
export const shapeOf = (template: string): string =>
  template.replaceAll(/\{[^;?&{}][^{}]*\}/g, (expression) => expression.replaceAll(/[A-Za-z0-9_%][\w.%]*/g, 'x'));
