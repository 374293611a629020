import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../src/kernel/json/json.js'

/**
 * What a rescore of the evaluations of `evaluating.mjs` and `evaluating.py` has to give with four scorers, computed
 * without the service: `exact-match` and `distance` are built in, `exact` is asked over HTTP and `judged` is a judge.
 */

/** The answer of the model of both programs, and the expected one, by country; it fails on Atlantis. */
export const ANSWERS: Readonly<Record<string, readonly [answer: string, expected: string]>> = {
  France: ['Paris', 'Paris'],
  Japan: ['Kyoto', 'Tokyo'],
  Peru: ['Lima', 'Lima'],
  Kenya: ['Nairobi', 'Nairobi'],
}
export const COUNTRIES = Object.keys(ANSWERS).sort()
export const FAILED_COUNTRY = 'Atlantis'
/** The row of the country that failed has no score. */
export const ROWS = COUNTRIES.length + 1

const distanceOf = (a: string, b: string): number => {
  if (a === '' || b === '') return a.length + b.length
  if (a.at(-1) === b.at(-1)) return distanceOf(a.slice(0, -1), b.slice(0, -1))
  const shorter = [
    [a.slice(0, -1), b],
    [a, b.slice(0, -1)],
    [a.slice(0, -1), b.slice(0, -1)],
  ] as const
  return 1 + Math.min(...shorter.map(([one, other]) => distanceOf(one, other)))
}

export const hasAnO = (answer: string): boolean => answer.includes('o')

export const verdictOn = (answer: string, expected: string) => ({
  points: (answer.length + expected.length) / 16,
  right: answer === expected,
  verdict: answer === expected ? 'right' : 'wrong',
  detail: { capitalised: true, reason: `${answer} was answered` },
})

const scoresOf = (answer: string, expected: string) => {
  const distance = distanceOf(answer, expected)
  return {
    'exact-match': { exact_match: answer === expected },
    distance: {
      edit_distance: distance,
      similarity: 1 - distance / Math.max(answer.length, expected.length),
    },
    exact: hasAnO(answer),
    judged: verdictOn(answer, expected),
  }
}

type Leaf = number | boolean | string

/** The values of each field of each scorer, by its path. */
export const fieldsOf = (
  scores: Iterable<Readonly<Record<string, Json>>>,
): ReadonlyMap<string, readonly Leaf[]> => {
  const fields = new Map<string, Leaf[]>()
  const visit = (path: string, value: Json) => {
    if (typeof value === 'object' && value !== null)
      for (const [name, member] of Object.entries(value)) visit(`${path}/${name}`, member)
    else if (value !== null) fields.set(path, [...(fields.get(path) ?? []), value])
  }
  for (const one of scores) for (const [scorer, score] of Object.entries(one)) visit(scorer, score)
  return fields
}

export const meanOf = (values: readonly Leaf[]): number =>
  values.reduce<number>((sum, value) => sum + Number(value), 0) / values.length

/** A row without a score counts against a fraction. */
export const meanOfRun = (values: readonly Leaf[]): number =>
  meanOf(values) * (typeof values[0] === 'boolean' ? values.length / ROWS : 1)

const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = share * (sorted.length - 1)
  const below = sorted[Math.floor(at)]!
  return below + (sorted[Math.ceil(at)]! - below) * (at % 1)
}

const summaryOf = (values: readonly Leaf[]): JsonObject => {
  const count = values.length
  const counts = { count, none_count: ROWS - count, row_count: ROWS }
  if (typeof values[0] === 'boolean') {
    const true_count = values.filter((value) => value === true).length
    return { true_count, true_fraction: true_count / ROWS, ...counts }
  }
  if (typeof values[0] === 'string') {
    const categories: Record<string, number> = {}
    for (const value of values as readonly string[]) categories[value] = (categories[value] ?? 0) + 1
    return { categories, ...counts }
  }
  const numbers = values as readonly number[]
  const mean = meanOf(numbers)
  return {
    mean,
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    stddev: Math.sqrt(meanOf(numbers.map((value) => (value - mean) ** 2))),
    p50: percentile(numbers, 0.5),
    p95: percentile(numbers, 0.95),
    ...counts,
  }
}

/** Sums in another order differ in the last digits. */
const rounded = <A extends Json>(value: A): A =>
  JSON.parse(
    JSON.stringify(value, (_, member: unknown) =>
      typeof member === 'number' ? Number(member.toPrecision(12)) : member,
    ),
  ) as A

export const assertEqualFigures = (actual: Json, expected: Json, message?: string): void =>
  assert.deepEqual(rounded(actual), rounded(expected), message)

export const expected = new Map(COUNTRIES.map((country) => [country, scoresOf(...ANSWERS[country]!)]))

export const expectedSummary = (): JsonObject => {
  const summary: Record<string, Json> = {}
  for (const [path, values] of fieldsOf(expected.values())) {
    const names = path.split('/')
    const last = names.pop()!
    let inside = summary
    for (const name of names) inside = (inside[name] ??= {}) as Record<string, Json>
    inside[last] = summaryOf(values)
    if (names.length > 0) (summary[names[0]!] as Record<string, Json>)['none_count'] = 1
  }
  return summary
}

/** A scorer that cannot run gives null. */
export const scoresOfRow = (country: string, codeScorer: string | undefined): JsonObject =>
  country === FAILED_COUNTRY
    ? {}
    : { ...expected.get(country), ...(codeScorer === undefined ? {} : { [codeScorer]: null }) }
