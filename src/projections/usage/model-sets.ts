/**
 * Sets of models, each kept once and known by a number: most calls of a trace speak of the same few. Set 0 is empty.
 */
export interface ModelSets {
  /** Of models in ascending order. */
  readonly of: (models: readonly number[]) => number
  readonly union: (a: number, b: number) => number
  /** Ascending. */
  readonly models: (set: number) => readonly number[]
  /** For each model of `part`, its place in `whole`. */
  readonly placesIn: (part: number, whole: number) => readonly number[]
}

/** Calls have usage of so many different sets of models that their sums would not fit in memory. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** The most models of all different sets together; each costs some tens of bytes. */
const MAX_MODELS = 2_000_000

export const modelSets = (): ModelSets => {
  const sets: (readonly number[])[] = []
  const known = new Map<string, number>()
  const unions = new Map<number, number>()
  const places = new Map<number, readonly number[]>()
  const pair = (a: number, b: number) => a * 2 ** 26 + b
  let total = 0

  const intern = (models: readonly number[]): number => {
    const key = models.join(',')
    const found = known.get(key)
    if (found !== undefined) return found
    total += models.length
    if (total > MAX_MODELS) throw new AnswerTooLarge(`more than ${MAX_MODELS} models in distinct sets`)
    known.set(key, sets.length)
    return sets.push(models) - 1
  }
  intern([])

  return {
    of: intern,
    models: (set) => sets[set]!,
    union: (a, b) => {
      if (a === b || b === 0) return a
      if (a === 0) return b
      const found = unions.get(pair(a, b))
      if (found !== undefined) return found
      const merged = intern(mergedInOrder(sets[a]!, sets[b]!))
      unions.set(pair(a, b), merged)
      return merged
    },
    placesIn: (part, whole) => {
      const found = places.get(pair(part, whole))
      if (found !== undefined) return found
      const inWhole = sets[whole]!
      let place = 0
      const mapped = sets[part]!.map((model) => {
        while (inWhole[place] !== model) place += 1
        return place
      })
      places.set(pair(part, whole), mapped)
      return mapped
    },
  }
}

const mergedInOrder = (a: readonly number[], b: readonly number[]): readonly number[] => {
  const merged: number[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const [x = Infinity, y = Infinity] = [a[i], b[j]]
    if (x <= y) i += 1
    if (y <= x) j += 1
    merged.push(Math.min(x, y))
  }
  return merged
}
