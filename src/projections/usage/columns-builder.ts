import { FIGURES } from '../../domain/call/usage.js'
import { yielding } from '../../yield-to-event-loop.js'
import { grown } from './growing.js'
import { idTable } from './id-table.js'
import type { Arrays, NativeBlock, Numbers, Strings } from './native.js'
import type { TraceColumns } from './trace-columns.js'

const WIDTH = FIGURES.length
/** A UUID. */
const USUAL_ID_BYTES = 36
const HAS_STRUCTURE = 1
const HAS_END = 2
const IS_DELETED = 4

/** The columns of a block of facts, in the order in which `load.ts` selects them. */
type FactBlock = readonly [
  trace: Numbers,
  id: Strings,
  parent: Strings,
  idHash: Numbers,
  parentHash: Numbers,
  flags: Numbers,
  started: Numbers,
  ended: Numbers,
  source: Numbers,
  statusTotal: Numbers,
  models: Arrays,
  figures: Arrays,
]

/**
 * Builds columns from facts in the order of trace, call and position. Several facts of one call stand behind one
 * another: each that is visible says all that it knows, so a later one overwrites an earlier one. Room is made for the
 * expected rows at once, and for more as they come.
 */
export const columnsBuilder = (expectedRows = 0) => {
  let idBytes = new Uint8Array(expectedRows * USUAL_ID_BYTES)
  let idOffsets = new Uint32Array(expectedRows + 1)
  let parentBytes = new Uint8Array(expectedRows * USUAL_ID_BYTES)
  let parentOffsets = new Uint32Array(expectedRows + 1)
  let idHash = new Uint32Array(expectedRows)
  let parentHash = new Uint32Array(expectedRows)
  let trace = new Uint32Array(expectedRows)
  let started = new Float64Array(expectedRows)
  let ended = new Float64Array(expectedRows)
  let flags = new Uint8Array(expectedRows)
  let source = new Uint8Array(expectedRows)
  let statusTotal = new Float64Array(expectedRows)
  let entryOffsets = new Uint32Array(expectedRows + 1)
  let entryModel = new Uint32Array(expectedRows)
  let figures = new Float64Array(expectedRows * WIDTH)
  const models = modelTable()
  let size = 0

  const makeRoom = ({ rows, columns }: NativeBlock): void => {
    const [, id, parent, , , , , , , , named] = columns as unknown as FactBlock
    idBytes = grown(idBytes, idOffsets[size]! + textLength(id))
    parentBytes = grown(parentBytes, parentOffsets[size]! + textLength(parent))
    idOffsets = grown(idOffsets, size + rows + 1)
    parentOffsets = grown(parentOffsets, size + rows + 1)
    idHash = grown(idHash, size + rows)
    parentHash = grown(parentHash, size + rows)
    trace = grown(trace, size + rows)
    started = grown(started, size + rows)
    ended = grown(ended, size + rows)
    flags = grown(flags, size + rows)
    source = grown(source, size + rows)
    statusTotal = grown(statusTotal, size + rows)
    entryOffsets = grown(entryOffsets, size + rows + 1)
    const entries = entryOffsets[size]! + (named.ends[rows - 1] ?? 0)
    entryModel = grown(entryModel, entries)
    figures = grown(figures, entries * WIDTH)
  }

  const isSame = (call: number, { bytes, starts, ends }: Strings, row: number): boolean => {
    const from = idOffsets[call]!
    const length = idOffsets[call + 1]! - from
    const start = starts[row]!
    if (ends[row]! - start !== length) return false
    for (let i = length - 1; i >= 0; i -= 1) if (idBytes[from + i] !== bytes[start + i]) return false
    return true
  }

  const add = (block: NativeBlock): void => {
    makeRoom(block)
    const [inTrace, id, parent, hashes, parentHashes, has, starts, ends, sources, statuses, named, counted] =
      block.columns as unknown as FactBlock
    const modelOf = models.of(named.elements as Strings)
    const reported = (counted.elements as Numbers).values as Float64Array
    let entry = 0
    for (let row = 0; row < block.rows; row += 1) {
      const call =
        size > 0 && trace[size - 1] === inTrace.values[row] && isSame(size - 1, id, row) ? size - 1 : size
      if (call === size) {
        size += 1
        idOffsets[size] = copy(id, row, idBytes, idOffsets[call]!)
        parentOffsets[size] = parentOffsets[call]!
        entryOffsets[size] = entryOffsets[call]!
        idHash[call] = hashes.values[row]!
        trace[call] = inTrace.values[row]!
        ended[call] = NaN
        statusTotal[call] = NaN
        flags[call] = 0
      }
      if ((has.values[row]! & HAS_STRUCTURE) !== 0) {
        parentOffsets[size] = copy(parent, row, parentBytes, parentOffsets[call]!)
        parentHash[call] = parentHashes.values[row]!
        started[call] = starts.values[row]!
        source[call] = sources.values[row]!
      }
      const entriesEnd = named.ends[row]!
      if ((has.values[row]! & HAS_END) !== 0) {
        ended[call] = ends.values[row]!
        statusTotal[call] = statuses.values[row]!
        let to = entryOffsets[call]!
        const first = to
        for (; entry < entriesEnd; entry += 1, to += 1) {
          entryModel[to] = modelOf[entry]!
          for (let k = 0; k < WIDTH; k += 1) figures[to * WIDTH + k] = reported[entry * WIDTH + k]!
        }
        entryOffsets[size] = to
        sortEntries(entryModel, figures, first, to)
      }
      entry = entriesEnd
      flags[call]! |= has.values[row]!
    }
  }

  const finish = async (): Promise<TraceColumns> => {
    const yieldNow = yielding()
    const ids = { bytes: idBytes, offsets: idOffsets.subarray(0, size + 1) }
    const find = idTable(ids, idHash, size)
    await yieldNow()
    const parent = new Int32Array(size)
    const deleted = new Uint8Array(size)
    for (let i = 0; i < size; i += 1) {
      const from = parentOffsets[i]!
      const to = parentOffsets[i + 1]!
      const found = from === to ? -1 : find(parentBytes, from, to, parentHash[i]!)
      parent[i] = found >= 0 && trace[found] === trace[i] ? found : -1
      deleted[i] = isHidden(flags[i]!) ? 1 : 0
      if (i % 64 === 0) await yieldNow()
    }
    const reported = { models: models.names, offsets: entryOffsets, model: entryModel, figures }
    return { size, ids, parent, started, ended, deleted, source, statusTotal, reported, find }
  }

  return { add, finish, size: () => size }
}

/** Deleted, or not begun at the position asked for. */
const isHidden = (flags: number): boolean => (flags & IS_DELETED) !== 0 || (flags & HAS_STRUCTURE) === 0

const textLength = ({ starts, ends }: Strings): number =>
  starts.length === 0 ? 0 : ends[ends.length - 1]! - starts[0]!

/** Copies a string to a place; answers where it ends. */
const copy = ({ bytes, starts, ends }: Strings, row: number, into: Uint8Array, to: number): number => {
  const end = ends[row]!
  for (let from = starts[row]!; from < end; from += 1, to += 1) into[to] = bytes[from]!
  return to
}

/** Model names to small numbers. Most entries name the model of the one before, so that is compared first. */
const modelTable = () => {
  const names: string[] = []
  const numbers = new Map<string, number>()
  const numberOf = (name: string): number => {
    const known = numbers.get(name)
    if (known !== undefined) return known
    numbers.set(name, names.length)
    return names.push(name) - 1
  }
  return {
    names,
    of: ({ bytes, starts, ends }: Strings): Uint32Array => {
      const found = new Uint32Array(starts.length)
      for (let i = 0; i < starts.length; i += 1)
        found[i] =
          i > 0 && sameText(bytes, starts[i]!, ends[i]!, starts[i - 1]!, ends[i - 1]!)
            ? found[i - 1]!
            : numberOf(Buffer.from(bytes.subarray(starts[i], ends[i])).toString('utf8'))
      return found
    },
  }
}

const sameText = (
  bytes: Uint8Array,
  start: number,
  end: number,
  otherStart: number,
  otherEnd: number,
): boolean => {
  if (end - start !== otherEnd - otherStart) return false
  for (let i = start, j = otherStart; i < end; i += 1, j += 1) if (bytes[i] !== bytes[j]) return false
  return true
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
