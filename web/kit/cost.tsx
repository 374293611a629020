import { cost, exactCost } from './format.js'

/** A cost with three significant digits, exact on hover and when it is copied. */
export const Cost = ({
  dollars,
  unpriced = false,
}: {
  readonly dollars: number
  readonly unpriced?: boolean
}) => (
  <span
    onCopy={(event) => {
      event.preventDefault()
      event.clipboardData.setData('text/plain', exactCost(dollars))
    }}
    title={
      `$${exactCost(dollars)}` + (unpriced ? '\nSome models have no price, so the whole cost is higher.' : '')
    }
  >
    {cost(dollars, unpriced)}
  </span>
)
