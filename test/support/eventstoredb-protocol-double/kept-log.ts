import { appendFileSync, closeSync, existsSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { DoubleLog, type LogEntry, type StoredEvent } from './log.js'

/** A log that a file keeps over the end of its process, however that ends; none where no path is given. */
export const openKeptLog = (path: string | undefined): DoubleLog => {
  if (path === undefined) return new DoubleLog()
  const log = new DoubleLog((entry) => appendFileSync(path, keptLine(entry)))
  if (existsSync(path)) log.restore(entriesIn(path))
  return log
}

function* entriesIn(path: string): Iterable<LogEntry> {
  for (const line of linesOf(path)) yield fromLine(line)
}

const CHUNK_BYTES = 4 * 1024 * 1024

/**
 * A file of many events is longer than a string can be. Without a last line that was cut off: it was never answered.
 */
function* linesOf(path: string): Iterable<string> {
  const file = openSync(path, 'r')
  const [chunk, decoder] = [Buffer.alloc(CHUNK_BYTES), new StringDecoder()]
  let rest = ''
  for (let bytes = readSync(file, chunk); bytes > 0; bytes = readSync(file, chunk)) {
    const lines = (rest + decoder.write(chunk.subarray(0, bytes))).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  closeSync(file)
}

export const keptLine = (entry: LogEntry): string =>
  `${JSON.stringify(entry, (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  )}\n`

const bytes = (text: unknown): Uint8Array => Buffer.from(String(text), 'base64')

const fromLine = (line: string): LogEntry => {
  const entry = JSON.parse(line) as LogEntry
  if (entry.kind !== 'append') return entry
  const events = entry.events.map((event): StoredEvent => ({
    ...event,
    // One text for all events of a stream takes less memory.
    stream: entry.stream,
    data: bytes(event.data),
    metadata: bytes(event.metadata),
  }))
  return { ...entry, events }
}
