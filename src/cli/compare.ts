import type { ModelDigest } from '../projections/digests/queries.js'

export interface Comparison {
  /** A line for each model. */
  readonly lines: readonly string[]
  /** The models that differ. */
  readonly differing: readonly string[]
}

/** Holds what was made from a log against what a service said. */
export const compared = (made: readonly ModelDigest[], said: readonly ModelDigest[] | null): Comparison => {
  const differing: string[] = []
  const lines = made.map(({ model, rows, digest }) => {
    const told = `${model.padEnd(16)} ${String(rows).padStart(10)} rows  ${digest}`
    if (said === null) return told
    const other = said.find((one) => one.model === model)
    if (other?.digest === digest && other.rows === rows) return `${told}  equal`
    differing.push(model)
    return `${told}  differs: ${other === undefined ? 'not told' : `${other.rows} rows  ${other.digest}`}`
  })
  const unknown = (said ?? []).filter(({ model }) => made.every((one) => one.model !== model))
  return {
    lines: [...lines, ...unknown.map(({ model }) => `${model.padEnd(16)} differs: it is not known here`)],
    differing: [...differing, ...unknown.map(({ model }) => model)],
  }
}
