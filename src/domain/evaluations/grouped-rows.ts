import type { Json } from '../../kernel/json/json.js'
import { fieldPath, valueAt, type FieldPath } from '../query/field-path.js'

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

/** The members of a row that rows can be sorted by. */
export interface SortableRow {
  readonly scores: Readonly<Record<string, Json>>
  readonly example: Json
  readonly output: Json
}

/** Groups the rows of runs by their example, and sorts the groups: as asked, then by the digest. */
export const newRowGroups = (runs: number, orders: readonly RowOrder[] = []) => {
  const paths = orders.map(({ field }) => fieldPath(field))
  const groups = new Map<string, { rows: string[][]; values: (Json | undefined)[][] }>()
  return {
    add(run: number, { id, exampleDigest }: GroupedRow, row?: SortableRow): void {
      const group = groups.get(exampleDigest) ?? {
        rows: Array.from({ length: runs }, () => []),
        values: orders.map(() => []),
      }
      groups.set(exampleDigest, group)
      group.rows[run]!.push(id)
      if (row !== undefined)
        for (const [at, path] of paths.entries()) group.values[at]![run] ??= sortValue(row, path)
    },
    result(inEveryRun: boolean): readonly RowGroup[] {
      const kept = [...groups].flatMap(([digest, { rows, values }]) =>
        inEveryRun && rows.some((ids) => ids.length === 0)
          ? []
          : [{ digest, rows, keys: orders.map((order, at) => keyOf(order, values[at]!)) }],
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

/** Tables in CSV and judges give numbers as text. */
const numberIn = (text: string): number | undefined => {
  const number = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : NaN
  return Number.isFinite(number) ? number : undefined
}

/** Numbers come before text, and what has no value last in both directions. */
const compare = (a: Key, b: Key, sign: 1 | -1): number => {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1
  return a < b ? -sign : a > b ? sign : 0
}
