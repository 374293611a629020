import { runStream } from '../../domain/runs/events.js'
import type { RunPlace } from './history.js'
import type { RunReads } from './runs.js'

/** A line that a program printed. */
export interface ConsoleLine {
  readonly number: number
  /** As the client wrote it, in UTC. */
  readonly timestamp: string | null
  readonly level: 'error' | ''
  /** The program that wrote it, if several log to the run. */
  readonly label: string
  readonly line: string
}

/** How the client begins a line: `ERROR` if it is of stderr, and a time. */
const BEGINNING = /^(ERROR )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?)Z? ?/

/** The console of a run, in which the last text of each line counts, one program after the other. */
export const consoleOf = async (
  runs: RunReads,
  { project, run }: RunPlace,
): Promise<readonly ConsoleLine[]> => {
  const chunks = (await runs.read(project, run, ({ output }) => [...output.console.chunks])) ?? []
  const writers = new Map<string | null, Map<number, string>>()
  for (const chunk of chunks) {
    const texts = writers.get(chunk.writer) ?? new Map<number, string>()
    writers.set(chunk.writer, texts)
    const lines = await runs.rowsOf(runStream(project, run), chunk)
    for (const [at, { text }] of lines.entries()) texts.set(chunk.offset + at, text)
  }
  return [...writers]
    .flatMap(([writer, texts]) =>
      [...texts].sort(([a], [b]) => a - b).map(([, text]) => ({ label: writer ?? '', text })),
    )
    .map(({ label, text }, number) => {
      const [beginning = '', error, time] = BEGINNING.exec(text) ?? []
      const timestamp = time === undefined ? null : `${time}Z`
      const level = error === undefined ? '' : 'error'
      return { number, timestamp, level, label, line: text.slice(beginning.length) }
    })
}
