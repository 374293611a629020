import type { Schemas } from '../kit/api.js'
import { significantNumber } from '../kit/format.js'

export type Run = Schemas['EvaluationListRow']

export interface ScoreField {
  readonly scorer: string
  readonly path: readonly string[]
}

export const scoreName = ({ scorer, path }: ScoreField): string => [scorer, ...path].join('.')

export const keyOfScore = ({ scorer, path }: ScoreField, kind: string): string =>
  JSON.stringify([scorer, ...path, kind])

/** A run without a name of its own is named after its evaluation. */
export const runName = ({
  id,
  display_name,
  evaluation_name,
}: Pick<Run, 'id' | 'display_name' | 'evaluation_name'>): string =>
  display_name ?? `${evaluation_name === '' ? 'evaluation' : evaluation_name} ${id.slice(0, 8)}`

/** `66.7 %` for a fraction of rows, else five significant digits. */
export const figureText = (kind: string, value: number): string =>
  kind === 'boolean' ? percentText(value) : significantNumber(value)

export const percentText = (fraction: number): string => `${Number((100 * fraction).toFixed(1))}\u2009%`

/** A difference with its sign; of fractions in percentage points. */
export const differenceText = (kind: string, value: number): string => {
  const sign = value > 0 ? '+' : value < 0 ? '−' : '±'
  const size = Math.abs(value)
  return kind === 'boolean'
    ? `${sign}${Number((100 * size).toFixed(1))}\u2009pp`
    : `${sign}${significantNumber(size)}`
}

export interface ShownMean extends ScoreField {
  readonly kind: string
}

/** The columns of scores of a list: the fields of all runs, those of most runs first. */
export const meansIn = (runs: readonly Run[]): readonly ShownMean[] => {
  const found = new Map<string, { field: ShownMean; runs: number }>()
  for (const { means } of runs)
    for (const field of means) {
      const key = keyOfScore(field, field.kind)
      const known = found.get(key)
      if (known === undefined) found.set(key, { field, runs: 1 })
      else known.runs += 1
    }
  return [...found.values()].sort((a, b) => b.runs - a.runs).map(({ field }) => field)
}

/** The runs of each evaluation, the one with the newest run first. */
export const groupsOf = (runs: readonly Run[]): readonly (readonly Run[])[] => {
  const groups = new Map<string, Run[]>()
  for (const run of runs) {
    const group = groups.get(run.evaluation)
    if (group === undefined) groups.set(run.evaluation, [run])
    else group.push(run)
  }
  return [...groups.values()]
}

/** The value at the path of a score; undefined where there is none. */
export const scoreAt = (scores: Readonly<Record<string, unknown>>, { scorer, path }: ScoreField): unknown => {
  let value: unknown = Object.hasOwn(scores, scorer) ? scores[scorer] : undefined
  for (const key of path)
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Readonly<Record<string, unknown>>)[key]
        : undefined
  return value
}

/** The name in a reference to an object or op, or the text itself. */
export const nameIn = (ref: string | null | undefined): string | undefined =>
  ref === null || ref === undefined || ref === ''
    ? undefined
    : (/^weave:\/\/\/[^/]+\/[^/]+\/(?:object|op)\/(.+):[^:/]+$/.exec(ref)?.[1] ?? ref)

/** Whether a value is better, worse or equal to that of the baseline. */
export const changeOf = (
  value: number | null,
  baseline: number | null,
  isLower: boolean,
): 'ok' | 'danger' | 'plain' => {
  if (value === null || baseline === null || value === baseline) return 'plain'
  return value > baseline === isLower ? 'danger' : 'ok'
}
