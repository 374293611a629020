import type { FailureKind } from './failure.js'

export const STATUS: Readonly<Record<FailureKind, number>> = {
  'bad-request': 400,
  unauthenticated: 401,
  'budget-spent': 402,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  'too-large': 413,
  'unsupported-type': 415,
  invalid: 422,
  'rate-limited': 429,
  'too-costly': 502,
  'upstream-failed': 502,
  overloaded: 503,
  'not-yet-readable': 503,
  'too-slow': 504,
  'upstream-too-slow': 504,
  'upstream-overloaded': 529,
}
