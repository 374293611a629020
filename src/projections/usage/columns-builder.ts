import { FIGURES } from '../../domain/call/usage.js'
import { idTable } from './id-table.js'
import type { RowBinaryReader } from './row-binary.js'
import type { TraceColumns } from './trace-columns.js'

/** Upper bounds of what the facts hold, counted beforehand, so that no column is ever copied to grow. */
export interface FactCounts {
  readonly rows: number
  readonly id_bytes: number
  readonly parent_bytes: number
  readonly entries: number
}

const WIDTH = FIGURES.length
const HAS_STRUCTURE = 1
const HAS_END = 2
const IS_DELETED = 4

/**
 * Builds columns from facts in the order of trace, call and position. Several facts of one call stand behind one
 * another: each that is visible says all that it knows, so a later one overwrites an earlier one.
 */
export const columnsBuilder = (reader: RowBinaryReader, counts: FactCounts) => {
  const ids = { bytes: new Uint8Array(counts.id_bytes), offsets: new Uint32Array(counts.rows + 1) }
  const parents = { bytes: new Uint8Array(counts.parent_bytes), offsets: new Uint32Array(counts.rows + 1) }
  const idHash = new Uint32Array(counts.rows)
  const parentHash = new Uint32Array(counts.rows)
  const trace = new Uint32Array(counts.rows)
  const started = new Float64Array(counts.rows)
  const ended = new Float64Array(counts.rows).fill(NaN)
  const flags = new Uint8Array(counts.rows)
  const source = new Uint8Array(counts.rows)
  const statusTotal = new Float64Array(counts.rows).fill(NaN)
  const entryOffsets = new Uint32Array(counts.rows + 1)
  const entryModel = new Uint32Array(counts.entries)
  const figures = new Float64Array(counts.entries * WIDTH)
  const models = modelTable(reader)
  let last = -1

  const isLast = (start: number, length: number, traceIndex: number): boolean => {
    if (last < 0 || trace[last] !== traceIndex) return false
    const from = ids.offsets[last]!
    if (ids.offsets[last + 1]! - from !== length) return false
    for (let i = 0; i < length; i += 1) if (ids.bytes[from + i] !== reader.bytes[start + i]) return false
    return true
  }

  const copy = (into: typeof ids, index: number, start: number, length: number): void => {
    const at = into.offsets[index]!
    for (let i = 0; i < length; i += 1) into.bytes[at + i] = reader.bytes[start + i]!
    into.offsets[index + 1] = at + length
  }

  const row = (): void => {
    const traceIndex = reader.uint32()
    const idLength = reader.length()
    const idStart = reader.skip(idLength)
    const parentLength = reader.length()
    const parentStart = reader.skip(parentLength)
    const hashOfId = reader.uint32()
    const hashOfParent = reader.uint32()
    const rowFlags = reader.uint8()
    const rowStarted = reader.float64()
    const rowEnded = reader.float64()
    const rowSource = reader.uint8()
    const rowStatus = reader.float64()
    const entries = reader.length()
    const index = isLast(idStart, idLength, traceIndex) ? last : last + 1
    let entry = entryOffsets[index]!
    const firstEntry = entry
    for (let i = 0; i < entries; i += 1) entryModel[firstEntry + i] = models.read()
    reader.length()
    for (let i = 0; i < entries * WIDTH; i += 1) figures[firstEntry * WIDTH + i] = reader.float64()
    entry += entries

    if (index !== last) {
      copy(ids, index, idStart, idLength)
      parents.offsets[index + 1] = parents.offsets[index]!
      idHash[index] = hashOfId
      trace[index] = traceIndex
      entryOffsets[index + 1] = firstEntry
      last = index
    }
    if ((rowFlags & HAS_STRUCTURE) !== 0) {
      copy(parents, index, parentStart, parentLength)
      parentHash[index] = hashOfParent
      started[index] = rowStarted
      source[index] = rowSource
    }
    if ((rowFlags & HAS_END) !== 0) {
      ended[index] = rowEnded
      statusTotal[index] = rowStatus
      entryOffsets[index + 1] = entry
      sortEntries(entryModel, figures, firstEntry, entry)
    }
    flags[index]! |= rowFlags
  }

  const finish = (): TraceColumns => {
    const size = last + 1
    const find = idTable(ids, idHash, size)
    const parent = new Int32Array(size)
    const deleted = new Uint8Array(size)
    for (let i = 0; i < size; i += 1) {
      const from = parents.offsets[i]!
      const to = parents.offsets[i + 1]!
      const found = from === to ? -1 : find(parents.bytes, from, to, parentHash[i]!)
      parent[i] = found >= 0 && trace[found] === trace[i] ? found : -1
      deleted[i] = isHidden(flags[i]!) ? 1 : 0
    }
    return {
      size,
      ids: { bytes: ids.bytes, offsets: ids.offsets.subarray(0, size + 1) },
      parent,
      started,
      ended,
      deleted,
      source,
      statusTotal,
      find,
      reported: { models: models.names, offsets: entryOffsets, model: entryModel, figures },
    }
  }

  return { row, finish }
}

/** Deleted, or not begun at the position asked for. */
const isHidden = (flags: number): boolean => (flags & IS_DELETED) !== 0 || (flags & HAS_STRUCTURE) === 0

/** Model names to small numbers. Most calls name the same few, so the last one is compared first. */
const modelTable = (reader: RowBinaryReader) => {
  const names: string[] = []
  const numbers = new Map<string, number>()
  return {
    names,
    read: (): number => {
      const length = reader.length()
      const start = reader.skip(length)
      const { bytes } = reader
      const name = Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString('utf8')
      const known = numbers.get(name)
      if (known !== undefined) return known
      numbers.set(name, names.length)
      return names.push(name) - 1
    },
  }
}

/** Ascending by model, as two calls' entries are compared; most have one entry or come sorted. */
const sortEntries = (model: Uint32Array, figures: Float64Array, from: number, to: number): void => {
  let sorted = true
  for (let i = from + 1; i < to && sorted; i += 1) sorted = model[i - 1]! < model[i]!
  if (sorted) return
  const order = Array.from({ length: to - from }, (_, i) => from + i).sort((a, b) => model[a]! - model[b]!)
  const models = order.map((i) => model[i]!)
  const rows = order.map((i) => figures.slice(i * WIDTH, (i + 1) * WIDTH))
  models.forEach((value, i) => (model[from + i] = value))
  rows.forEach((value, i) => figures.set(value, (from + i) * WIDTH))
}
