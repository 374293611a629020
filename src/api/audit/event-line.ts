import { describedAs } from '../../domain/codec/codec.js'
import { boolean, jsonObject, string } from '../../domain/codec/leaves.js'
import { open } from '../../domain/codec/struct.js'
import { jsonText } from '../../domain/json/text.js'
import type { Position, RecordedEvent } from '../../domain/ports/event-store.js'

const digits = describedAs(string, { pattern: '^[0-9]+$', description: 'A 64-bit integer.' })

/** An event of the log, as one line of JSON. */
export const eventLine = open('RecordedEvent', {
  required: {
    id: string,
    type: string,
    stream: string,
    /** Counts from 0 within the stream. */
    revision: digits,
    /** Its position in the log. */
    position: digits,
    recorded_at: describedAs(string, { format: 'date-time' }),
    data: jsonObject,
    metadata: jsonObject,
  },
})

/** The last line of a response that stops before the end of the log. */
export const cursorLine = open('EventsCursor', { required: { position: digits, more: boolean } })

export const cursorLineOf = (position: Position): string =>
  `${JSON.stringify({ position: String(position), more: true })}\n`

export const lineOf = (event: RecordedEvent): string => {
  const { id, type, stream, revision, position, recordedAt, data, metadata } = event
  const line = {
    ...{ id, type, stream, revision: String(revision), position: String(position) },
    ...{ recorded_at: recordedAt.toISOString(), data, metadata },
  }
  return `${jsonText(line)}\n`
}
