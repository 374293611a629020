import { isJsonObject, type Json } from '../../kernel/json/json.js'

/** Fields deeper inside a score are left out, and so are fields with a longer name. */
const MAX_DEPTH = 8
const MAX_NAME = 256
/** Of more leaves, those whose keys sort first are kept, so that the order of the rows makes no difference. */
const MAX_LEAVES = 200

type Scalar = string | number | boolean | null

/** Visits the values of a score that are neither objects nor lists; `key` is unique for the path. */
export const eachLeaf = (
  score: Json,
  visit: (key: string, path: readonly string[], value: Scalar) => void,
): void => visitLeaves('', [], score, visit)

const visitLeaves = (
  key: string,
  path: readonly string[],
  value: Json,
  visit: (key: string, path: readonly string[], value: Scalar) => void,
): void => {
  if (Array.isArray(value)) return
  if (!isJsonObject(value)) return visit(key, path, value as Scalar)
  if (path.length >= MAX_DEPTH) return
  for (const name of Object.keys(value))
    if (name.length <= MAX_NAME)
      visitLeaves(`${key}${name.length}:${name}`, [...path, name], value[name]!, visit)
}

/** Something for each leaf, for a bounded number of leaves. */
export class LeafMap<A> {
  private readonly leaves = new Map<string, A>()
  private last = ''

  constructor(private readonly make: (path: readonly string[]) => A) {}

  /** Undefined for a leaf beyond the bound. */
  at(key: string, path: readonly string[]): A | undefined {
    const known = this.leaves.get(key)
    if (known !== undefined) return known
    if (this.leaves.size >= MAX_LEAVES) {
      if (key > this.last) return undefined
      this.leaves.delete(this.last)
    }
    const leaf = this.make(path)
    this.leaves.set(key, leaf)
    this.last = largestOf(this.leaves.keys())
    return leaf
  }

  values(): Iterable<A> {
    return this.leaves.values()
  }
}

const largestOf = (keys: Iterable<string>): string => {
  let largest = ''
  for (const key of keys) if (key > largest) largest = key
  return largest
}
