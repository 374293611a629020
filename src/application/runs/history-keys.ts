import { rowOf } from '../../domain/runs/history.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { PlacedLine } from './history-parts.js'

/** How often a key of the history has which type, and the last line that has it. */
export interface HistoryKey {
  readonly types: Readonly<Record<string, number>>
  readonly lastValue: Json
}

export interface HistoryKeys {
  readonly keys: ReadonlyMap<string, HistoryKey>
  /** The highest step, 0 if none has a step. */
  readonly lastStep: number
}

export interface KnownKeys {
  /** The number of rows that were read. */
  rows: number
  readonly keys: Map<string, { readonly types: Record<string, number>; lastValue: Json }>
}

export const keysOf = async (lines: AsyncIterable<PlacedLine>): Promise<HistoryKeys> => {
  const keys: KnownKeys['keys'] = new Map()
  let lastStep = 0
  for await (const { text, step } of lines) {
    countKeys(keys, rowOf(text) ?? {}, '')
    lastStep = Math.max(lastStep, step)
  }
  return { keys, lastStep }
}

const MAX_DEPTH = 8

export const countKeys = (
  keys: KnownKeys['keys'],
  row: Readonly<Record<string, Json>>,
  prefix: string,
  depth = 0,
) => {
  for (const [key, value] of Object.entries(row)) {
    if (isJsonObject(value) && !('_type' in value) && depth < MAX_DEPTH) {
      countKeys(keys, value, `${prefix}${key}.`, depth + 1)
      continue
    }
    const name = prefix + key
    const counted = keys.get(name) ?? { types: {}, lastValue: null }
    const type = typeOf(value)
    counted.types[type] = (counted.types[type] ?? 0) + 1
    counted.lastValue = value
    keys.set(name, counted)
  }
}

/** `NaN` and infinities were parsed as texts. */
const NUMBERS: ReadonlySet<Json> = new Set(['NaN', 'Infinity', '-Infinity'])

const typeOf = (value: Json): string => {
  if (value === null) return 'nil'
  if (typeof value === 'number' || NUMBERS.has(value)) return 'number'
  if (typeof value === 'object') return Array.isArray(value) ? 'list' : 'map'
  return typeof value
}

/** The value of a key, where `a.b` is `b` in `a` unless the row has the key `a.b`. */
export const valueAt = (row: Readonly<Record<string, Json>>, key: string): Json | undefined => {
  if (Object.hasOwn(row, key)) return row[key]
  for (let dot = key.indexOf('.'); dot > 0; dot = key.indexOf('.', dot + 1)) {
    const inner = Object.hasOwn(row, key.slice(0, dot)) ? row[key.slice(0, dot)] : undefined
    if (!isJsonObject(inner)) continue
    const value = valueAt(inner, key.slice(dot + 1))
    if (value !== undefined) return value
  }
  return undefined
}
