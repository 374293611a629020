import type { JsonObject } from '../domain/json/json.js'
import type { Problem } from '../domain/codec/problem.js'

/** Why a request was not served. Thrown by routes; `respond.ts` turns each kind into its status and body. */
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
  | 'invalid'
  | 'overloaded'
  | 'not-yet-readable'
  | 'too-slow'
  | 'too-costly'
  | 'budget-spent'
  | 'rate-limited'
  | 'upstream-failed'
  | 'upstream-too-slow'

interface FailureDetails {
  /** For `invalid`: where and what, with `loc` from the request's root (`body`, `query`, `path`). */
  readonly problems?: readonly Problem[]
  /** Further members of the answer's body. */
  readonly body?: JsonObject
  /** Seconds after which another try makes sense. */
  readonly retryAfter?: number
  /** Members of the error of a chat completion, where they are other than the kind's usual ones. */
  readonly type?: string
  readonly code?: string
  readonly param?: string
  /** Whether the same request fails whenever it is sent again: `x-should-retry: false`. */
  readonly isFinal?: boolean
  /** The reason without an upstream's own message, which may quote the request. */
  readonly reasonWithoutQuote?: string
}

export const invalid = (problems: readonly Problem[]): Failure =>
  new Failure('invalid', 'The request is not valid.', { problems })

/** Problems whose places are those in the body. */
export const invalidBody = (problems: readonly Problem[]): Failure =>
  invalid(problems.map((problem) => ({ ...problem, loc: ['body', ...problem.loc] })))

/** A single problem at a place in the body. */
export const invalidField = (loc: readonly (string | number)[], type: string, msg: string): Failure =>
  invalidBody([{ loc, type, msg }])
