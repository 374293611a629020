import { product, sum, type Exact } from '../../domain/price/exact.js'
import type { Answered, Billed } from '../../projections/usage/queries.js'

/** Iterates over the costs of a call's models, in units of 10^-12. */
export interface CostsOfCall {
  readonly begin: (call: number) => void
  /**
   * The four costs of a model, in the order of their counters, 0 without a price. Models must ascend; the result is
   * reused by the next call.
   */
  readonly next: (model: number) => readonly Exact[]
}

const KINDS = 4

export const costsOfCalls = ({ inclusive, charges }: Billed): CostsOfCall => {
  const { set, sets, offsets, width, values } = inclusive
  const amounts: Exact[] = [0, 0, 0, 0]
  let keys: readonly number[] = []
  let place = 0
  let at = 0
  return {
    begin: (call) => {
      keys = sets.models(set[call]!)
      place = 0
      at = offsets[call]! * width
    },
    next: (model) => {
      for (let k = 0; k < KINDS; k += 1) amounts[k] = 0
      for (; place < keys.length && charges[keys[place]!]!.model === model; place += 1, at += width) {
        const { costs } = charges[keys[place]!]!
        if (costs === null) continue
        for (let k = 0; k < KINDS; k += 1) {
          const tokens = values[at + k]!
          if (tokens !== 0) amounts[k] = sum(amounts[k]!, product(tokens, costs[k]!))
        }
      }
      return amounts
    },
  }
}

/** The models without a price that used tokens in the calls or their descendants, sorted. */
export const unpricedModels = (answers: readonly Answered[]): readonly string[] => {
  const names = new Set<string>()
  for (const { models, billed } of answers) {
    if (billed === null) continue
    const { inclusive, charges } = billed
    if (charges.every(({ costs }) => costs !== null)) continue
    for (const known of new Set(inclusive.set))
      for (const key of inclusive.sets.models(known))
        if (charges[key]!.costs === null) names.add(models[charges[key]!.model]!)
  }
  return [...names].sort()
}

export const unpricedHeader = (models: readonly string[]): Readonly<Record<string, string>> =>
  models.length === 0 ? {} : { 'Tallytree-Unpriced-Models': namesInHeader(models) }

/** HTTP clients limit the size of headers. */
const MOST_CHARACTERS = 4096

/** Percent-encoded names, separated by commas. If there are too many, ends with `+` and the number of omitted names. */
const namesInHeader = (names: readonly string[]): string => {
  const shown: string[] = []
  let length = 0
  for (const name of names) {
    const encoded = encodeURIComponent(name)
    length += encoded.length + 1
    if (length > MOST_CHARACTERS) break
    shown.push(encoded)
  }
  const more = names.length - shown.length
  return [...shown, ...(more > 0 ? [`+${more}`] : [])].join(',')
}
