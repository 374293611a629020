import type { IncomingHttpHeaders } from 'node:http'

/** The name that a client gave its request with `x-request-id`: 1 to 128 visible characters of ASCII, or it has none. */
export const requestIdIn = ({ 'x-request-id': named }: IncomingHttpHeaders): string | undefined =>
  typeof named === 'string' && /^[!-~]{1,128}$/.test(named) ? named : undefined
