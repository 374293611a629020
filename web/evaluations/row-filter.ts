import type { Search } from '../kit/search.js'
import type { ScoreField } from './figures.js'

type RowOp = 'failed' | 'eq' | 'lt' | 'gt'

/** The filter of the rows of a run, as the address has it. */
interface RowFilter {
  /** Undefined for any score. */
  readonly field: ScoreField | undefined
  readonly op: RowOp
  /** Of `eq` a boolean, else a number. */
  readonly value: number | boolean | null
}

/** Escapes what separates the keys of a field path. */
const key = (name: string): string => name.replace(/[\\.]/g, '\\$&')

export const pathText = (path: readonly string[]): string => path.map(key).join('.')

const fieldOf = (text: string): ScoreField | undefined => {
  try {
    const names = JSON.parse(text) as unknown
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return undefined
    const [scorer, ...path] = names
    return scorer === undefined ? undefined : { scorer, path }
  } catch {
    return undefined
  }
}

export const fieldText = ({ scorer, path }: ScoreField): string => JSON.stringify([scorer, ...path])

/** The condition in the address: `score` is a field, `only` one of failed, passed, lt:0.5, gt:0.5. */
export const filterIn = ({ score = '', only = '' }: Search): RowFilter | undefined => {
  const field = fieldOf(score)
  if (only === 'missing') return { field, op: 'failed', value: null }
  if (field === undefined) return undefined
  if (only === 'failed' || only === 'passed') return { field, op: 'eq', value: only === 'passed' }
  const [, op, number] = /^(lt|gt):(.+)$/.exec(only) ?? []
  const value = Number(number)
  return op === undefined || !Number.isFinite(value) ? undefined : { field, op: op as RowOp, value }
}

export const filtersOf = (filter: RowFilter | undefined) =>
  filter === undefined
    ? null
    : [
        {
          op: filter.op,
          value: filter.value,
          ...(filter.field === undefined
            ? {}
            : {
                scorer: filter.field.scorer,
                path: filter.field.path.length === 0 ? null : pathText(filter.field.path),
              }),
        },
      ]

/** The order in the address: the field of a score, after `-` for the largest first. */
export const orderOf = ({ sort = '' }: Search) => {
  const field = fieldOf(sort.replace(/^-/, ''))
  if (field === undefined) return null
  return [
    {
      field: `scores.${pathText([field.scorer, ...field.path])}`,
      direction: sort.startsWith('-') ? ('desc' as const) : ('asc' as const),
    },
  ]
}
