import type { ScoredRow } from './row.js'

type Rows = readonly ScoredRow[]

export interface MatchedRow {
  readonly exampleDigest: string
  /** Counts the rows of the same example within a run, from 0: its trials. */
  readonly occurrence: number
  /** Of each run; the first is always there. */
  readonly rows: readonly (ScoredRow | null)[]
}

/** The rows of the first run that have a row of the same example and occurrence in another run, in their order. */
export const matchRows = ([first, ...others]: readonly Rows[]): readonly MatchedRow[] => {
  const indexes = others.map((rows) => new Map(withOccurrences(rows).map(({ key, row }) => [key, row])))
  return withOccurrences(first ?? [])
    .map(({ key, row, occurrence }) => ({
      exampleDigest: row.exampleDigest,
      occurrence,
      rows: [row, ...indexes.map((index) => index.get(key) ?? null)],
    }))
    .filter(({ rows }) => rows.some((row, run) => run > 0 && row !== null))
}

const withOccurrences = (rows: Rows) => {
  const seen = new Map<string, number>()
  return rows.map((row) => {
    const occurrence = seen.get(row.exampleDigest) ?? 0
    seen.set(row.exampleDigest, occurrence + 1)
    return { key: `${occurrence}:${row.exampleDigest}`, row, occurrence }
  })
}

/** How many of the matched rows a run has. */
export const matchedIn = (matched: readonly MatchedRow[], run: number): number => {
  let count = 0
  for (const { rows } of matched) if (rows[run] !== null) count += 1
  return count
}
