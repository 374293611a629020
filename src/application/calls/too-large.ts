import { AnswerTooLarge } from '../../projections/usage/inclusive-usage.js'
import { TotalsNotReady } from '../../projections/usage/query/open-traces.js'
import { TraceTooLarge } from '../../projections/usage/trace.js'
import { Failure } from '../failure.js'

/** Rethrows size errors as 413. */
export const refuseTooLarge = (error: unknown): never => {
  if (error instanceof TraceTooLarge)
    throw new Failure(
      'too-large',
      `A trace exceeds the limit of ${error.limit} calls. An operator can raise TALLYTREE_MAX_TRACE_CALLS.`,
    )
  if (error instanceof TotalsNotReady)
    throw new Failure('not-yet-readable', 'The totals of usage are being updated. Try again in some seconds.')
  if (error instanceof AnswerTooLarge)
    throw new Failure(
      'too-large',
      'The answer has too many entries per call and model. Request fewer calls, such as the roots of traces.',
    )
  throw error
}
