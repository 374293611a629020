import {
  historyLine,
  newParts,
  rangeOf,
  type HistoryLine,
  type HistoryPart,
  type WrittenLines,
} from './history.js'
import type { OutputFile, RunOutputLogged } from './events.js'

/** How much of a file is kept: lines with their number, and in characters. */
export interface OutputKept {
  /** The number of the next line of a console, of lines of system metrics. */
  readonly lines: number
  readonly written: number
  readonly length: number
}

export const NO_OUTPUT: OutputKept = { lines: 0, written: 0, length: 0 }

/** A line of system metrics every 15 seconds reaches this after 17 days. */
const MOST_LINES = 100_000
const LONGEST: Readonly<Record<OutputFile, number>> = { system: 256 * 1024 * 1024, console: 64 * 1024 * 1024 }

export const withOutput = (
  kept: OutputKept,
  { file, offset, rows, length }: RunOutputLogged,
): OutputKept => ({
  lines: file === 'console' ? Math.max(kept.lines, offset + rows) : kept.lines + rows,
  written: kept.written + rows,
  length: kept.length + length,
})

/** Lines of a console are any text. */
export const lineIn =
  (file: OutputFile) =>
  (text: string): HistoryLine =>
    file === 'console' ? { text, step: null, time: null } : historyLine(text)

/** The new ones of sent lines, up to the limits. A line of a console replaces an earlier one. */
export const newOutput = (
  file: OutputFile,
  sent: WrittenLines,
  logged: readonly WrittenLines[],
  kept: OutputKept,
): readonly Omit<RunOutputLogged, 'project_id' | 'run_id' | 'name' | 'user'>[] => {
  let { written, length } = kept
  const parts: HistoryPart[] = []
  for (const { offset, lines } of newParts(sent, logged, file === 'console')) {
    const fits = lines.findIndex((line) => {
      written += 1
      length += line.text.length
      return written > MOST_LINES || length > LONGEST[file]
    })
    if (fits !== 0) parts.push({ offset, lines: fits < 0 ? lines : lines.slice(0, fits) })
    if (fits >= 0) break
  }
  return parts.map(({ offset, lines }) => {
    const [min_time, max_time] = rangeOf(lines.map(({ time }) => time)) ?? [null, null]
    return {
      file,
      offset,
      rows: lines.length,
      length: lines.reduce((sum, { text }) => sum + text.length, 0),
      writer: sent.writer,
      min_time,
      max_time,
      lines: lines.map(({ text }) => text),
      spilled: {},
    }
  })
}
