import type { IncomingHttpHeaders } from 'node:http'

/** The client's `x-request-id`, if it has 1 to 128 visible ASCII characters. */
export const requestIdIn = ({ 'x-request-id': named }: IncomingHttpHeaders): string | undefined =>
  typeof named === 'string' && /^[!-~]{1,128}$/.test(named) ? named : undefined
