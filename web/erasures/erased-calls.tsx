import { plural } from '../kit/format.js'

/** Says how many calls are missing in totals. */
export const ErasedCalls = ({ count = 0 }: { readonly count: number | undefined }) =>
  count === 0 ? null : (
    <p className="secondary" role="note">
      The totals lack {plural(count, 'call')} of this time whose figures were erased.
    </p>
  )
