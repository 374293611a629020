/**
 * Sets of models, each kept once and known by a number: most calls of a trace speak of the same few. Set 0 is empty.
 */
export interface ModelSets {
  readonly of: (models: readonly number[]) => number
  readonly union: (a: number, b: number) => number
  /** Ascending. */
  readonly models: (set: number) => readonly number[]
  /** For each model of `part`, its place in `whole`. */
  readonly placesIn: (part: number, whole: number) => readonly number[]
}

export const modelSets = (): ModelSets => {
  const sets: (readonly number[])[] = []
  const known = new Map<string, number>()
  const unions = new Map<number, number>()
  const places = new Map<number, readonly number[]>()
  const pair = (a: number, b: number) => a * 2 ** 26 + b

  const intern = (models: readonly number[]): number => {
    const key = models.join(',')
    const found = known.get(key)
    if (found !== undefined) return found
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
      const merged = intern([...new Set([...sets[a]!, ...sets[b]!])].sort((x, y) => x - y))
      unions.set(pair(a, b), merged)
      return merged
    },
    placesIn: (part, whole) => {
      const found = places.get(pair(part, whole))
      if (found !== undefined) return found
      const inWhole = new Map(sets[whole]!.map((model, place) => [model, place]))
      const mapped = sets[part]!.map((model) => inWhole.get(model)!)
      places.set(pair(part, whole), mapped)
      return mapped
    },
  }
}
