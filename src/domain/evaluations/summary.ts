import { isJsonObject, type Json, type JsonObject } from '../../kernel/json/json.js'
import { eachLeaf, LeafMap } from './score-leaves.js'
import { deviationOf, meanOf, NumberList, percentileOf } from './statistics.js'

/** Summarizes the scores of one scorer. The result does not depend on the order of the rows. */
export interface SummaryBuilder {
  /** The score of a row: null where the scorer failed. */
  add: (score: Json) => void
  result: () => Json
}

const MAX_CATEGORY = 64
const MAX_CATEGORIES = 50

interface Leaf {
  readonly path: readonly string[]
  readonly numbers: NumberList
  trueCount: number
  falseCount: number
  /** By text; cleared when there are too many, since the field is free text then. */
  readonly categories: Map<string, number>
  isFreeText: boolean
  texts: number
  longTexts: number
  nulls: number
}

/**
 * A summary has the shape of the scores, with these in the place of each leaf:
 * - numbers: `mean`, `min`, `max`, `stddev` (population), `p50`, `p95` (linear interpolation) and `count`. One that
 *   overflows a double is null;
 * - booleans: `true_count`, `true_fraction` and `count`;
 * - texts of at most 64 characters: `categories` (how many rows have each) and `count`. A field with more than 50
 *   different texts is free text and is left out, as longer texts are;
 * - `none_count`: rows where the value is null; absent when there are none;
 * - `other_count`: values that the rest does not cover; absent when there are none.
 *
 * `mean`, `true_count` and `true_fraction` are where the SDKs put them, with the values of the Python SDK: null is not in
 * a denominator, and a row whose whole score is `{}` was not scored but counts in the denominator of `true_fraction`.
 *
 * A leaf with values of several types is summarized for the type that most of its values have, or the first of number,
 * boolean and text when types are equally frequent; the values of the other types are its `other_count`. Where some rows
 * have an object, only the object's fields are summarized. Lists are skipped. With no rows the summary is `{}`, and null
 * when there is nothing to summarize.
 */
export const newSummary = (): SummaryBuilder => {
  const leaves = new LeafMap(newLeaf)
  let rows = 0
  let unscored = 0

  return {
    add: (score) => {
      rows += 1
      if (isJsonObject(score) && Object.keys(score).length === 0) unscored += 1
      else
        eachLeaf(score, (key, path, value) => {
          const leaf = leaves.at(key, path)
          if (leaf !== undefined) addToLeaf(leaf, value)
        })
    },
    result: () => (rows === 0 ? {} : summaryOf(leaves.values(), unscored)),
  }
}

const newLeaf = (path: readonly string[]): Leaf => ({
  path,
  numbers: new NumberList(),
  trueCount: 0,
  falseCount: 0,
  categories: new Map(),
  isFreeText: false,
  texts: 0,
  longTexts: 0,
  nulls: 0,
})

const addToLeaf = (leaf: Leaf, value: string | number | boolean | null): void => {
  if (typeof value === 'number' && Number.isFinite(value)) leaf.numbers.push(value)
  else if (value === true) leaf.trueCount += 1
  else if (value === false) leaf.falseCount += 1
  else if (typeof value === 'string') addText(leaf, value)
  else leaf.nulls += 1
}

const addText = (leaf: Leaf, text: string): void => {
  if (text.length > MAX_CATEGORY) {
    leaf.longTexts += 1
    return
  }
  leaf.texts += 1
  if (leaf.isFreeText) return
  leaf.categories.set(text, (leaf.categories.get(text) ?? 0) + 1)
  if (leaf.categories.size <= MAX_CATEGORIES) return
  leaf.isFreeText = true
  leaf.categories.clear()
}

/** The leaves of an object and of the objects inside it. */
interface Node {
  leaf: Leaf | undefined
  readonly members: Map<string, Node>
}

const summaryOf = (leaves: Iterable<Leaf>, unscored: number): Json => {
  const root: Node = { leaf: undefined, members: new Map() }
  for (const leaf of leaves) {
    let node = root
    for (const name of leaf.path) {
      const next: Node = node.members.get(name) ?? { leaf: undefined, members: new Map() }
      node.members.set(name, next)
      node = next
    }
    node.leaf = leaf
  }
  return summaryOfNode(root, unscored) ?? null
}

const summaryOfNode = ({ leaf, members }: Node, unscored: number): JsonObject | undefined => {
  if (members.size === 0) return leaf === undefined ? undefined : summaryOfLeaf(leaf, unscored)
  const summaries = [...members]
    .map(([name, node]) => [name, summaryOfNode(node, unscored)] as const)
    .filter((entry): entry is readonly [string, JsonObject] => entry[1] !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  // A field of the scores takes precedence over a count with the same name.
  return nonEmpty({ ...(leaf && rest(leaf, valuesOf(leaf))), ...Object.fromEntries(summaries) })
}

const summaryOfLeaf = (leaf: Leaf, unscored: number): JsonObject | undefined => {
  const booleans = leaf.trueCount + leaf.falseCount
  const texts = leaf.isFreeText ? 0 : leaf.texts
  const most = Math.max(leaf.numbers.length, booleans, texts)
  if (most === 0) return nonEmpty(leaf.nulls > 0 ? { none_count: leaf.nulls } : {})
  const others = rest(leaf, valuesOf(leaf) - most)
  if (leaf.numbers.length === most) return { ...summaryOfNumbers(leaf.numbers), ...others }
  if (booleans === most)
    return {
      true_count: leaf.trueCount,
      true_fraction: leaf.trueCount / (booleans + unscored),
      count: booleans,
      ...others,
    }
  const categories = [...leaf.categories].sort(([a], [b]) => (a < b ? -1 : 1))
  return { categories: Object.fromEntries(categories), count: texts, ...others }
}

const summaryOfNumbers = (numbers: NumberList): JsonObject => {
  const sorted = numbers.sorted()
  const mean = meanOf(sorted)
  const stddev = deviationOf(sorted, mean)
  return {
    mean,
    min: sorted[0]!,
    max: sorted[sorted.length - 1]!,
    stddev: Number.isFinite(stddev) ? stddev : null,
    p50: percentileOf(sorted, 0.5),
    p95: percentileOf(sorted, 0.95),
    count: sorted.length,
  }
}

const valuesOf = ({ numbers, trueCount, falseCount, texts, longTexts }: Leaf): number =>
  numbers.length + trueCount + falseCount + texts + longTexts

const rest = ({ nulls }: Leaf, others: number): JsonObject => ({
  ...(nulls > 0 ? { none_count: nulls } : {}),
  ...(others > 0 ? { other_count: others } : {}),
})

const nonEmpty = (summary: JsonObject): JsonObject | undefined =>
  Object.keys(summary).length === 0 ? undefined : summary
