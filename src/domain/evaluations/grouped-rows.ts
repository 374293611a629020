import type { Json } from '../../kernel/json/json.js'
import { fieldPath, valueAt, type FieldPath } from '../query/field-path.js'
import { meetsFilter, numberIn, type FilteredRow, type RowFilter } from './row-filter.js'

/** The rows of several runs with the same example. */
export interface RowGroup {
  readonly digest: string
  /** By the place of the run: the ids of its rows. A run with several trials has several. */
  readonly rows: readonly (readonly string[])[]
}

interface GroupedRow {
  readonly id: string
  readonly exampleDigest: string
}

export interface RowOrder {
  readonly field: string
  readonly direction: 'asc' | 'desc'
  /** The place of the run whose value counts; null for the first that has one. */
  readonly run: number | null
  /** `difference`: the largest value of any run less the smallest. */
  readonly mode: 'value' | 'difference'
}

/** The members of a row that rows can be sorted by and selected by. */
export interface SortableRow extends FilteredRow {
  readonly example: Json
  readonly output: Json
}

/** Selects the rows that meet all filters, or one of them. */
export interface RowSelection {
  readonly filters: readonly RowFilter[]
  readonly isAnyEnough: boolean
}

const ALL: RowSelection = { filters: [], isAnyEnough: false }

interface Group {
  readonly rows: string[][]
  readonly values: (Json | undefined)[][]
  /** Empty without filters. */
  readonly scored: FilteredRow[][]
}

/** Groups the rows of runs by their example, and sorts the groups: as asked, then by the digest. */
export const newRowGroups = (runs: number, orders: readonly RowOrder[] = [], selection = ALL) => {
  const paths = orders.map(({ field }) => fieldPath(field))
  const groups = new Map<string, Group>()
  const { filters, isAnyEnough } = selection
  const isSelected = ({ scored }: Group) =>
    filters.length === 0 ||
    (isAnyEnough
      ? filters.some((filter) => meetsFilter(filter, scored))
      : filters.every((filter) => meetsFilter(filter, scored)))
  return {
    add(run: number, { id, exampleDigest }: GroupedRow, row?: SortableRow): void {
      const group = groups.get(exampleDigest) ?? {
        rows: Array.from({ length: runs }, () => []),
        values: orders.map(() => []),
        scored: filters.length === 0 ? [] : Array.from({ length: runs }, () => []),
      }
      groups.set(exampleDigest, group)
      group.rows[run]!.push(id)
      if (row !== undefined)
        for (const [at, path] of paths.entries()) group.values[at]![run] ??= sortValue(row, path)
      if (row !== undefined) group.scored[run]?.push({ scores: row.scores, exception: row.exception })
    },
    result(inEveryRun: boolean, ofSelected = false): readonly RowGroup[] {
      const kept = [...groups].flatMap(([digest, group]) =>
        (inEveryRun && group.rows.some((ids) => ids.length === 0)) || (ofSelected && !isSelected(group))
          ? []
          : [{ digest, rows: group.rows, keys: orders.map((order, at) => keyOf(order, group.values[at]!)) }],
      )
      return kept.sort((a, b) => {
        for (const [at, { direction }] of orders.entries()) {
          const order = compare(a.keys[at], b.keys[at], direction === 'asc' ? 1 : -1)
          if (order !== 0) return order
        }
        return a.digest < b.digest ? -1 : a.digest > b.digest ? 1 : 0
      })
    },
  }
}

export const isSortField = (field: string): boolean => /^(scores|inputs|outputs)(\.|$)/.test(field)

const sortValue = ({ scores, example, output }: SortableRow, path: FieldPath): Json | undefined =>
  valueAt({ scores, inputs: example, outputs: output }, path)

type Key = string | number | undefined

const keyOf = ({ run, mode }: RowOrder, values: readonly (Json | undefined)[]): Key => {
  if (mode === 'value')
    return keyValue(run === null ? values.find((value) => value !== undefined) : values[run])
  const numbers = values.map(keyValue).filter((value) => typeof value === 'number')
  return numbers.length === 0 ? undefined : Math.max(...numbers) - Math.min(...numbers)
}

const keyValue = (value: Json | undefined): Key => {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'string') return numberIn(value) ?? value
  return typeof value === 'number' ? value : undefined
}

/** Numbers come before text, and what has no value last in both directions. */
const compare = (a: Key, b: Key, sign: 1 | -1): number => {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1
  return a < b ? -sign : a > b ? sign : 0
}
