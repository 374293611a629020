import type { JsonObject } from '../kernel/json/json.js'
import type { Problem } from '../kernel/codec/problem.js'

/** Thrown by routes to refuse a request. `respond.ts` turns each kind into its status and body. */
export class Failure extends Error {
  override readonly name = 'Failure'
  constructor(
    readonly kind: FailureKind,
    readonly reason: string,
    readonly details: FailureDetails = {},
  ) {
    super(reason)
  }
}

export type FailureKind =
  | 'bad-request'
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'too-large'
  | 'unsupported-type'
  | 'invalid'
  | 'overloaded'
  | 'not-yet-readable'
  | 'too-slow'
  | 'too-costly'
  | 'budget-spent'
  | 'rate-limited'
  | 'upstream-failed'
  | 'upstream-too-slow'
  | 'upstream-overloaded'

interface FailureDetails {
  /** For `invalid`: locations and rules, with `loc` from the request's root (`body`, `query`, `path`). */
  readonly problems?: readonly Problem[]
  /** Further members of the response body. */
  readonly body?: JsonObject
  readonly headers?: Readonly<Record<string, string>>
  /** `Retry-After`, in seconds. */
  readonly retryAfter?: number
  /** Overrides of the members of a model provider's error that are derived from the kind. */
  readonly type?: string
  readonly code?: string
  readonly param?: string
  /** Set when a retry cannot succeed: `x-should-retry: false`. */
  readonly isFinal?: boolean
  /** The reason without the upstream's message, which may quote the request. */
  readonly reasonWithoutQuote?: string
}

export const invalid = (problems: readonly Problem[]): Failure =>
  new Failure('invalid', 'The request is not valid.', { problems })

/** Problems with locations relative to the body. */
export const invalidBody = (problems: readonly Problem[]): Failure =>
  invalid(problems.map((problem) => ({ ...problem, loc: ['body', ...problem.loc] })))

/** One problem, with its location relative to the body. */
export const invalidField = (loc: readonly (string | number)[], type: string, msg: string): Failure =>
  invalidBody([{ loc, type, msg }])
