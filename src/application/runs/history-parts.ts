import { LRUCache } from 'lru-cache'
import { historyLineInSteps, stepIn, type HistoryLine } from '../../domain/runs/history.js'
import { lineIn } from '../../domain/runs/output.js'
import type { HistoryLogged, MetricsLogged } from '../../domain/runs/events.js'
import type { RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Ports } from '../../kernel/ports/ports.js'
import { readBack } from '../../kernel/spill/read-back.js'

/**
 * Rows of a run's history: the lines of the event at `revision`, or the metrics of that event and the next ones, of which
 * each is one row.
 */
export interface HistoryChunk {
  readonly of: 'lines' | 'metrics' | 'console'
  readonly rows: number
  /** The number of the first line. */
  readonly offset: number
  readonly writer: string | null
  /** The steps that its rows belong to. */
  readonly minStep: number
  readonly maxStep: number
  /** The highest step of the rows before it, 0 if none has one. */
  readonly before: number
  /** Null if no line has a time. */
  readonly times: readonly [number, number] | null
  readonly revision: bigint
}

/** A line with the step that it belongs to: its own, or without one the highest of the lines before it. */
export interface PlacedLine extends HistoryLine {
  readonly step: number
}

/** In characters of lines. */
const KEPT_LENGTH = 64 * 1024 * 1024

export type HistoryParts = (stream: string, chunk: HistoryChunk) => Promise<readonly PlacedLine[]>

/** Reads the rows of chunks, and keeps the last ones in memory. */
export const openHistoryParts = (ports: Pick<Ports, 'eventStore' | 'blobs'>): HistoryParts => {
  const parts = new LRUCache<string, readonly PlacedLine[]>({
    maxSize: KEPT_LENGTH,
    sizeCalculation: (lines) => lines.reduce((sum, { text }) => sum + text.length, 1),
  })
  const readNow = async (
    key: string,
    stream: string,
    { of, rows, before, revision }: HistoryChunk,
  ): Promise<readonly PlacedLine[]> => {
    const lines: HistoryLine[] = []
    const limit = of === 'metrics' ? rows : 1
    for await (const event of ports.eventStore.readStream(stream, { from: revision, limit })) {
      if (of === 'metrics') lines.push(lineOfMetrics(event))
      else {
        const read = (await readBack(ports.blobs, event.data)) as HistoryLogged
        for (const text of read.lines ?? [])
          lines.push(of === 'console' ? lineIn(of)(text) : await historyLineInSteps(text))
      }
    }
    const placed = placedAfter(before, lines)
    parts.set(key, placed)
    return placed
  }
  /** Reads at the same time share one. */
  const reading = new Map<string, Promise<readonly PlacedLine[]>>()
  return async (stream, chunk) => {
    const key = `${stream}\n${chunk.revision}\n${chunk.rows}`
    const kept = parts.get(key) ?? reading.get(key)
    if (kept !== undefined) return kept
    const read = readNow(key, stream, chunk).finally(() => reading.delete(key))
    reading.set(key, read)
    return read
  }
}

const placedAfter = (before: number, lines: readonly HistoryLine[]): readonly PlacedLine[] => {
  let highest = before
  return lines.map(({ text, step, time }) => {
    highest = Math.max(highest, step ?? 0)
    return { text, step: step ?? highest, time }
  })
}

const MS_PER_SECOND = 1000

/** A row as the package `wandb` would have logged it. */
const lineOfMetrics = ({ data, recordedAt }: RecordedEvent): HistoryLine => {
  const { metrics, step } = data as MetricsLogged
  const time = recordedAt.getTime() / MS_PER_SECOND
  const own = { _timestamp: time, ...(step === null ? {} : { _step: step }) }
  return { text: JSON.stringify({ ...metrics, ...own }), step: stepIn(step), time }
}
