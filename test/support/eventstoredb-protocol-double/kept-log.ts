import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { DoubleLog, type LogEntry, type StoredEvent } from './log.js'

/** A log that a file keeps over the end of its process, however that ends; none where no path is given. */
export const openKeptLog = (path: string | undefined): DoubleLog => {
  if (path === undefined) return new DoubleLog()
  const log = new DoubleLog((entry) => appendFileSync(path, `${toLine(entry)}\n`))
  if (existsSync(path)) log.restore(linesOf(readFileSync(path, 'utf8')).map(fromLine))
  return log
}

/** Without a last line that was cut off: it was never answered. */
const linesOf = (text: string): readonly string[] => text.split('\n').slice(0, -1)

const toLine = (entry: LogEntry): string =>
  JSON.stringify(entry, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )

const bytes = (text: unknown): Uint8Array => new Uint8Array(Buffer.from(String(text), 'base64'))

const fromLine = (line: string): LogEntry => {
  const entry = JSON.parse(line) as LogEntry
  if (entry.kind !== 'append') return entry
  const events = entry.events.map((event): StoredEvent => ({
    ...event,
    data: bytes(event.data),
    metadata: bytes(event.metadata),
  }))
  return { ...entry, events }
}
