import type { Schemas } from '../kit/api.js'
import { Cost } from '../kit/cost.js'
import { plural, shortNumber, wholeNumber } from '../kit/format.js'

interface TotalsProps {
  readonly shown: number
  /** Undefined until it is known. */
  readonly total: number | undefined
  readonly isRoots: boolean
  readonly sums: Schemas['UsageQueryResponse']['totals']['usage'] | undefined
}

/** How many rows of how many are shown, and what all of the list used. */
export const Totals = ({ shown, total, isRoots, sums }: TotalsProps) => {
  const one = isRoots ? 'trace' : 'call'
  return (
    <span className="totals">
      {total === undefined ? plural(shown, one) : `${wholeNumber(shown)} of ${plural(total, one)}`}
      {sums !== undefined && (
        <>
          {' · '}
          <span title={wholeNumber(sums.total_tokens)}>{shortNumber(sums.total_tokens)} tokens</span>
          {' · '}
          {sums.total_cost === null ? (
            'no price'
          ) : (
            <Cost dollars={sums.total_cost} unpriced={(sums.unpriced_models?.length ?? 0) > 0} />
          )}
        </>
      )}
    </span>
  )
}
