import { LRUCache } from 'lru-cache'
import { rowOf } from '../../domain/runs/history.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import { valueAt } from './history-keys.js'
import type { HistoryChunk, HistoryParts } from './history-parts.js'

export const ABSENT = 0
export const NUMBER = 1
/** The value is read from its line. */
export const OTHER = 2

/** The step that each row belongs to. */
export const STEPS = Symbol('steps')
export type ColumnKey = string | typeof STEPS

/** The values of a key in the rows of a chunk. */
export interface Column {
  readonly numbers: Float64Array
  readonly kinds: Uint8Array
}

export type HistoryColumns = (
  stream: string,
  chunk: HistoryChunk,
  keys: readonly ColumnKey[],
) => Promise<ReadonlyMap<ColumnKey, Column>>

const BYTES_OF_VALUE = 9
const KEPT_BYTES = 64 * 1024 * 1024

/** Reads values of chunks, each row parsed once for all keys, and keeps the last ones in memory. */
export const openHistoryColumns = (linesOf: HistoryParts): HistoryColumns => {
  const kept = new LRUCache<string, ReadonlyMap<ColumnKey, Column>>({
    maxSize: KEPT_BYTES,
    sizeCalculation: (columns) =>
      [...columns.values()].reduce((sum, { kinds }) => sum + kinds.length * BYTES_OF_VALUE, 1),
  })
  return async (stream, chunk, keys) => {
    const id = `${stream}\n${chunk.revision}\n${chunk.rows}`
    const known = kept.get(id)
    const missing = keys.filter((key) => known?.has(key) !== true)
    if (known !== undefined && missing.length === 0) return known
    const lines = await linesOf(stream, chunk)
    const added = missing.map((key) => [key, emptyColumn(lines.length)] as const)
    const pause = yielding()
    for (const [at, { text, step }] of lines.entries()) {
      const row = rowOf(text) ?? {}
      for (const [key, { numbers, kinds }] of added) {
        const value = key === STEPS ? step : valueAt(row, key)
        if (typeof value === 'number') numbers[at] = value
        kinds[at] = typeof value === 'number' ? NUMBER : value === undefined ? ABSENT : OTHER
      }
      await pause()
    }
    const columns = new Map([...(known ?? []), ...(kept.get(id) ?? []), ...added])
    kept.set(id, columns)
    return columns
  }
}

const emptyColumn = (rows: number): Column => ({
  numbers: new Float64Array(rows).fill(NaN),
  kinds: new Uint8Array(rows),
})
