import { mayShareRows, rangeOf, type WrittenLines } from '../../domain/runs/history.js'
import type { HistoryChunk } from './history-parts.js'

/** Where the lines of a file of a run are. */
export interface KeptLines {
  readonly chunks: HistoryChunk[]
  /** Where the lines of each writer end. */
  readonly ends: Map<string | null, { readonly line: number; readonly time: number }>
}

export const noLines = (): KeptLines => ({ chunks: [], ends: new Map() })

/** Older logs do not have the times of lines. */
export const ANY_TIME = [-Infinity, Infinity] as const

export const addLines = ({ chunks, ends }: KeptLines, chunk: HistoryChunk): void => {
  const { writer, offset, rows, times } = chunk
  chunks.push(chunk)
  const end = ends.get(writer)
  ends.set(writer, {
    line: Math.max(end?.line ?? 0, offset + rows),
    time: Math.max(end?.time ?? -Infinity, times?.[1] ?? -Infinity),
  })
}

/** Bounds what is read for a program that sends all lines under one number. */
const MOST_OF_OTHERS = 100

/**
 * The chunks that may have some of these lines. A program that continues has higher numbers and later times than all lines
 * before, so that there are none.
 */
export const chunksRepeatedBy = (
  { chunks, ends }: KeptLines,
  sent: WrittenLines,
): readonly HistoryChunk[] => {
  const { writer, offset, lines } = sent
  const until = offset + lines.length
  const times = rangeOf(lines.map(({ time }) => time))
  const others = [...ends].filter(([other]) => mayShareRows(other, writer))
  if (
    offset >= (ends.get(writer)?.line ?? 0) &&
    (times === null || others.every(([, { time }]) => time < times[0]))
  )
    return []
  const steps = lines.map(({ step }) => step)
  const [minStep, maxStep] = (!steps.includes(null) && rangeOf(steps)) || [-Infinity, Infinity]
  const found = chunks.filter(
    (one) =>
      one.of !== 'metrics' &&
      ((one.writer === writer && one.offset < until && one.offset + one.rows > offset) ||
        (times !== null &&
          one.times !== null &&
          mayShareRows(one.writer, writer) &&
          one.times[0] <= times[1] &&
          one.times[1] >= times[0] &&
          one.minStep <= maxStep &&
          one.maxStep >= minStep)),
  )
  return found.slice(-(2 * lines.length + MOST_OF_OTHERS))
}
