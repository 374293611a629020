import type { FailureKind } from '../failure.js'

/** The status that each kind of failure is answered with. */
export const STATUS: Readonly<Record<FailureKind, number>> = {
  'bad-request': 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  invalid: 422,
  'too-costly': 502,
  overloaded: 503,
  'not-yet-readable': 503,
  'too-slow': 504,
}
