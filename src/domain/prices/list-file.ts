import type * as t from 'io-ts'
import { arrayOf } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { closed } from '../../kernel/codec/struct.js'
import { textUpToBytes } from '../../kernel/codec/text.js'
import { MAX_LISTED_PRICES, modelName, priceText, type PriceContent } from './events.js'
import { exactCosts, offeredCosts } from './offered.js'

const listedPrice = closed('ListedPrice', {
  says: 'Token prices of a model from a date on.',
  required: { llm_id: modelName, effective_date: instant, ...offeredCosts.required },
  optional: offeredCosts.optional,
})

/** Fields of a price list file. */
export const priceListMembers = {
  /** Identifies this state of the list. */
  version: priceText,
  /** Where and when the prices were read. */
  source: textUpToBytes(4096),
  prices: arrayOf(listedPrice),
}

export const priceListFile = closed('PriceListFile', { required: priceListMembers })
export type PriceListFile = t.TypeOf<typeof priceListFile>

export const contentsOf = ({ prices }: Pick<PriceListFile, 'prices'>): readonly PriceContent[] =>
  prices.map(({ llm_id, effective_date, ...costs }) => ({ llm_id, effective_date, ...exactCosts(costs) }))

/** Checks that a codec of one price cannot make: duplicates and the index of an invalid price. */
export const listProblem = ({
  prices,
}: Pick<PriceListFile, 'prices'>):
  { readonly loc: readonly (string | number)[]; readonly msg: string } | undefined => {
  if (prices.length > MAX_LISTED_PRICES)
    return { loc: ['prices'], msg: `Value error, a list should have at most ${MAX_LISTED_PRICES} prices` }
  const seen = new Set<string>()
  for (const [index, { llm_id, effective_date }] of prices.entries()) {
    const key = `${effective_date} ${llm_id}`
    if (seen.has(key))
      return { loc: ['prices', index], msg: 'Value error, duplicate price for this model and date' }
    seen.add(key)
  }
  return undefined
}
