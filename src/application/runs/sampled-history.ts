import { rowOf } from '../../domain/runs/history.js'
import type { Json } from '../../kernel/json/json.js'
import { yielding } from '../../kernel/yield-to-event-loop.js'
import type { ReadBudget } from '../read-budget.js'
import {
  ABSENT,
  NUMBER,
  OTHER,
  STEPS,
  type Column,
  type ColumnKey,
  type HistoryColumns,
} from './history-columns.js'
import { valueAt } from './history-keys.js'
import type { HistoryChunk, HistoryParts } from './history-parts.js'
import { CLIENTS_OWN, withExtremes } from './history-sampling.js'
import { isWithin, mayHave, type StepRange } from './step-range.js'

/**
 * The rows that have all of the keys, reduced to them and to what the client adds: of each stretch those with the least and
 * the greatest value of each key, where `most` leaves room for that.
 */
export interface HistorySpec {
  readonly keys: readonly string[]
  readonly range: StepRange
  readonly most: number
}

export type SampledRow = Readonly<Record<string, Json>>

/** What a history has of one run. */
export interface Stretch {
  readonly stream: string
  readonly chunks: readonly HistoryChunk[]
  readonly range: StepRange
  readonly highestStep: number
}

/** A chunk with its values. Rows are numbered over all pieces. */
interface Piece {
  readonly stream: string
  readonly chunk: HistoryChunk
  readonly range: StepRange
  readonly columns: ReadonlyMap<ColumnKey, Column>
  readonly from: number
}

/** In characters: the text of a number, with quotes and separators of its key. */
const LENGTH_OF_NUMBER = 24

/** The rows of all specifications. The chunks are read and their rows parsed once. */
export const sampleColumns = async (
  { columnsOf, linesOf }: { readonly columnsOf: HistoryColumns; readonly linesOf: HistoryParts },
  stretches: readonly Stretch[],
  specs: readonly HistorySpec[],
  budget: ReadBudget,
): Promise<readonly (readonly SampledRow[])[]> => {
  const keys = [...new Set<ColumnKey>([STEPS, ...CLIENTS_OWN, ...specs.flatMap((spec) => spec.keys)])]
  const all = stretches.flatMap(({ chunks }) => chunks)
  budget.spend('values', keys.length * rowsIn(all))
  for (const { range, most, keys: own } of specs) {
    const rows = rowsIn(all.filter((chunk) => mayHave(range, chunk)))
    budget.spend('rows', Math.min(most, rows))
    // Looking through values that were read costs less than reading them.
    budget.spend('values', Math.ceil((rows * (own.length + 1)) / 4))
  }

  const pieces: Piece[] = []
  let from = 0
  for (const { stream, chunks, range } of stretches)
    for (const chunk of chunks) {
      pieces.push({ stream, chunk, range, from, columns: await columnsOf(stream, chunk, keys) })
      from += chunk.rows
    }
  const chosen: (readonly number[])[] = []
  for (const spec of specs) chosen.push(await rowsOfSpec(pieces, spec))

  const answered = specs.map((spec) => [...new Set([...CLIENTS_OWN, ...spec.keys])])
  const parsed = new Map<number, SampledRow>()
  const pause = yielding()
  for (const [piece, row] of inPieces(
    pieces,
    [...new Set(chosen.flat())].sort((a, b) => a - b),
  )) {
    if (!keys.some((key) => piece.columns.get(key)!.kinds[row - piece.from] === OTHER)) continue
    const { text } = (await linesOf(piece.stream, piece.chunk))[row - piece.from]!
    budget.spend('text', text.length)
    parsed.set(row, rowOf(text) ?? {})
    await pause()
  }
  const samples: SampledRow[][] = []
  for (const [index, names] of answered.entries()) {
    const rows: SampledRow[] = []
    for (const [{ columns, from }, row] of inPieces(pieces, chosen[index]!)) {
      const members: [string, Json][] = []
      for (const name of names) {
        const { kinds, numbers } = columns.get(name)!
        const kind = kinds[row - from]
        if (kind === ABSENT) continue
        const value = kind === NUMBER ? numbers[row - from]! : valueAt(parsed.get(row)!, name)!
        budget.spend('text', name.length + (kind === NUMBER ? LENGTH_OF_NUMBER : jsonLength(value)))
        members.push([name, value])
      }
      rows.push(Object.fromEntries(members))
      await pause()
    }
    samples.push(rows)
  }
  return samples
}

const rowsIn = (chunks: readonly HistoryChunk[]): number => chunks.reduce((sum, { rows }) => sum + rows, 0)

const jsonLength = (value: Json): number => JSON.stringify(value).length

function* inPieces(
  pieces: readonly Piece[],
  rows: readonly number[],
): Generator<readonly [piece: Piece, row: number]> {
  let index = 0
  for (const row of rows) {
    while (row >= pieces[index]!.from + pieces[index]!.chunk.rows) index += 1
    yield [pieces[index]!, row]
  }
}

/** The numbers of the rows that a specification selects. */
const rowsOfSpec = async (
  pieces: readonly Piece[],
  { keys, range, most }: HistorySpec,
): Promise<readonly number[]> => {
  const own = new Set(CLIENTS_OWN)
  const names = keys.filter((key) => !own.has(key))
  const found: number[] = []
  const pause = yielding()
  for (const { chunk, range: ofRun, columns, from } of pieces) {
    if (!mayHave(range, chunk)) continue
    const required = keys.map((key) => columns.get(key)!)
    const steps = columns.get(STEPS)!.numbers
    for (let at = 0; at < chunk.rows; at += 1) {
      const step = steps[at]!
      if (required.some(({ kinds }) => kinds[at] === ABSENT)) continue
      if (!isWithin(range, { step }) || !isWithin(ofRun, { step })) continue
      found.push(from + at)
    }
    await pause()
  }
  const series = names.map((name) => valuesOf(pieces, found, name))
  return (await withExtremes(found.length, series, most)).map((at) => found[at]!)
}

/** The value of a key in each of the rows, fast where they are asked for in order. Copies nothing. */
const valuesOf = (
  pieces: readonly Piece[],
  rows: readonly number[],
  name: string,
): ((index: number) => number) => {
  let index = -1
  let [from, until] = [0, 0]
  let numbers: Float64Array = new Float64Array()
  return (at) => {
    const row = rows[at]!
    if (row < from) index = -1
    while (row < from || row >= until) {
      const piece = pieces[++index]!
      from = piece.from
      until = from + piece.chunk.rows
      numbers = piece.columns.get(name)!.numbers
    }
    return numbers[row - from]!
  }
}
