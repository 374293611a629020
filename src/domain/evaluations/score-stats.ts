import { isJsonObject, type Json } from '../../kernel/json/json.js'

/** Statistics over the trials of a run for one value of a scorer: a score, or a leaf of an object score. */
export interface ScoreStat {
  readonly scorer_key: string
  /** The way to the leaf with dots between keys; null for a score that is a single value. */
  readonly path: string | null
  readonly value_type: 'binary' | 'continuous' | 'text' | null
  /** The trials of the run. */
  readonly trial_count: number
  readonly numeric_count: number
  readonly numeric_mean: number | null
  readonly pass_known_count: number
  readonly pass_true_count: number
  readonly pass_rate: number | null
  /** The part of the trials in which the value is a boolean; null where it is one in none. */
  readonly pass_signal_coverage: number | null
}

interface Counts {
  readonly scorer: string
  readonly path: string | null
  type: ScoreStat['value_type']
  numbers: number
  sum: number
  booleans: number
  trues: number
}

/** Scores may be objects with other keys in each row. */
const MAX_VALUES = 1000

/** Counts the scores of a run, trial by trial. */
export const newScoreStats = () => {
  const values = new Map<string, Counts>()
  let trials = 0

  const count = (scorer: string, path: string | null, value: Json): void => {
    if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value))
        count(scorer, path === null ? key : `${path}.${key}`, member)
      return
    }
    const type = typeOf(value)
    if (type === null) return
    const name = JSON.stringify([scorer, path])
    const counts = values.get(name) ?? { scorer, path, type, numbers: 0, sum: 0, booleans: 0, trues: 0 }
    if (!values.has(name)) {
      if (values.size >= MAX_VALUES) return
      values.set(name, counts)
    }
    if (typeof value === 'number') {
      counts.numbers += 1
      counts.sum += value
    } else if (typeof value === 'boolean') {
      counts.booleans += 1
      if (value) counts.trues += 1
    }
  }

  return {
    add(scores: Readonly<Record<string, Json>>): void {
      trials += 1
      for (const [scorer, value] of Object.entries(scores)) count(scorer, null, value)
    },
    result: (): { readonly trials: number; readonly stats: readonly ScoreStat[] } => ({
      trials,
      stats: [...values.values()].map((counts) => statOf(counts, trials)),
    }),
  }
}

const typeOf = (value: Json): ScoreStat['value_type'] => {
  switch (typeof value) {
    case 'boolean':
      return 'binary'
    case 'number':
      return 'continuous'
    case 'string':
      return 'text'
    default:
      return null
  }
}

const statOf = (
  { scorer, path, type, numbers, sum, booleans, trues }: Counts,
  trials: number,
): ScoreStat => ({
  scorer_key: scorer,
  path,
  value_type: type,
  trial_count: trials,
  numeric_count: numbers,
  numeric_mean: numbers === 0 ? null : sum / numbers,
  pass_known_count: booleans,
  pass_true_count: trues,
  pass_rate: booleans === 0 ? null : trues / booleans,
  pass_signal_coverage: booleans === 0 ? null : booleans / trials,
})
