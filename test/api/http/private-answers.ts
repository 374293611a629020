/** Whether neither a cache may keep an answer nor a browser guess its type. */
export const isPrivate = (headers: Headers): boolean =>
  headers.get('cache-control') === 'private, no-store' && headers.get('x-content-type-options') === 'nosniff'
