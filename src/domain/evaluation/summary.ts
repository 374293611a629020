import { isJsonObject, type Json } from '../json/json.js'

export interface Summary {
  readonly add: (value: Json) => void
  readonly result: () => Json
}

/** STUB until the branch of the scorers is merged. */
export const newSummary = (): Summary => {
  const values: Json[] = []
  return { add: (value) => void values.push(value), result: () => summaryOf(values) }
}

const summaryOf = (values: readonly Json[]): Json => {
  const numbers = values.filter((value) => typeof value === 'number')
  const booleans = values.filter((value) => typeof value === 'boolean')
  if (booleans.length > 0) {
    const true_count = booleans.filter((value) => value).length
    return { true_count, true_fraction: true_count / values.length }
  }
  if (numbers.length > 0) return { mean: numbers.reduce((sum, value) => sum + value, 0) / numbers.length }
  const objects = values.filter(isJsonObject)
  const keys = [...new Set(objects.flatMap((value) => Object.keys(value)))]
  return Object.fromEntries(keys.map((key) => [key, summaryOf(objects.map((value) => value[key] ?? null))]))
}
