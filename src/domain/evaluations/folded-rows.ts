import { valueOf, type ComparedRow, type ComparedScore } from './comparison.js'

/** The compared rows of one example, its trials. */
export interface FoldedRow {
  readonly trials: readonly ComparedRow[]
  /** The largest of its trials. */
  readonly regression: number
  readonly improvement: number
}

const STEP = 1000

/** Joins the trials of each example, the largest regression first. */
export function* foldRows(rows: readonly ComparedRow[]): Generator<undefined, readonly FoldedRow[]> {
  const byExample = new Map<string, ComparedRow[]>()
  for (const [at, row] of rows.entries()) {
    const trials = byExample.get(row.exampleDigest)
    if (trials === undefined) byExample.set(row.exampleDigest, [row])
    else trials.push(row)
    if (at % STEP === STEP - 1) yield
  }
  // Rows come in the order of their regression, so the examples do too.
  return [...byExample.values()].map((trials) => ({
    trials: trials.toSorted((a, b) => a.occurrence - b.occurrence),
    regression: trials[0]!.regression,
    improvement: Math.max(...trials.map(({ improvement }) => improvement)),
  }))
}

/** The trials of a run, and the mean of their values in each field; null where none has one. */
export const cellOf = (
  { trials }: FoldedRow,
  run: number,
  scores: readonly ComparedScore[],
): { readonly ids: readonly string[]; readonly values: readonly (number | null)[] } | null => {
  const rows = trials.flatMap(({ rows }) => rows[run] ?? [])
  if (rows.length === 0) return null
  return {
    ids: rows.map(({ id }) => id),
    values: scores.map((score) => {
      const values = rows.flatMap((row) => valueOf(row, score, score.kind) ?? [])
      return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
    }),
  }
}
