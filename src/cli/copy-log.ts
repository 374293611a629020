import {
  idOfRepeat,
  type LogCopy,
  type RepeatedEvent,
  type WrittenEvent,
} from '../adapters/event-store/sqlite/log-copy.js'
import { canonicalJson } from '../domain/json/canonical.js'
import type { Json } from '../domain/json/json.js'
import { parseJson } from '../domain/json/parse.js'
import type { BlobStore } from '../domain/ports/blobs.js'
import type { Position, RecordedEvent } from '../domain/ports/event-store.js'
import type { LogSource } from '../domain/ports/log-source.js'
import { OperatorError } from '../domain/ports/operator-error.js'
import { copyBlobs } from './copy-blobs.js'

export interface Copying {
  readonly source: LogSource
  readonly copy: LogCopy
  readonly blobs: BlobStore
}

const BATCH_EVENTS = 2000
const BATCH_CHARACTERS = 8 * 1024 * 1024

/**
 * Adds to a copy what the source has behind its last event, up to a position. A batch is there whole or not at all, and
 * the blobs that it names before it: whenever this is cut off, it can go on from there.
 *
 * @throws OperatorError when the copy is of another log
 */
export const copyLog = async (
  { source, copy, blobs }: Copying,
  upTo: Position,
  note: (events: number, position: Position) => void,
  onRepeated: (repeated: RepeatedEvent) => void,
): Promise<number> => {
  const last = copy.last()
  if (last !== undefined) await requireSame(source, last)
  let copied = 0
  let batch: RecordedEvent[] = []
  let characters = 0

  const write = async () => {
    await copyBlobs(source, blobs, batch)
    copy.write(batch).forEach(onRepeated)
    copied += batch.length
    const end = batch.at(-1)
    batch = []
    characters = 0
    if (end !== undefined) note(copied, end.position)
  }

  for await (const event of source.readAll(BigInt(last?.position ?? 0))) {
    if (event.position > upTo) break
    batch.push(event)
    characters += event.size
    if (batch.length >= BATCH_EVENTS || characters >= BATCH_CHARACTERS) await write()
  }
  await write()
  await copy.sync()
  return copied
}

/** @throws OperatorError when the source has another event, or none, where the copy has this one */
export const requireSame = async (source: LogSource, last: WrittenEvent): Promise<void> => {
  const { stream } = last
  const place = { stream, revision: BigInt(last.revision), position: BigInt(last.position) }
  const event = await source.eventAt(place)
  const ids = event === undefined ? [] : [event.id, idOfRepeat(event)]
  if (event === undefined || !ids.some((id) => imprint({ ...event, id }) === imprint(recorded(last))))
    throw new OperatorError(
      `the directory contains another log: its last event, ${last.id} at position ${last.position}, is not in the source`,
    )
}

const recorded = (written: WrittenEvent): RecordedEvent => ({
  ...written,
  position: BigInt(written.position),
  revision: BigInt(written.revision),
  recordedAt: new Date(written.recordedAt),
  data: parseJson(written.data) as RecordedEvent['data'],
  metadata: JSON.parse(written.metadata) as RecordedEvent['metadata'],
  size: 0,
})

const imprint = ({ id, type, stream, revision, position, recordedAt, data, metadata }: RecordedEvent) =>
  canonicalJson([
    ...[id, type, stream, String(revision), String(position), recordedAt.getTime()],
    ...[data, metadata],
  ] as Json)
