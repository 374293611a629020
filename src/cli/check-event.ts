import { DAMAGED_PAGE } from '../adapters/event-store/sqlite/damaged-pages.js'
import type { WrittenEvent } from '../adapters/event-store/sqlite/log-copy.js'
import { rowOrDigestDamage } from '../adapters/event-store/sqlite/row-seal.js'
import { unreadableEvent } from '../kernel/unreadable-event.js'
import { catalogue } from '../domain/catalogue.js'
import type { AnyCodec } from '../kernel/codec/codec.js'
import { isJsonObject, type JsonObject } from '../kernel/json/json.js'
import { parseJson } from '../kernel/json/parse.js'
import { BlobDamaged, type BlobStore } from '../kernel/ports/blobs.js'
import type { EventMetadata, RecordedEvent } from '../kernel/ports/event-store.js'
import { blobsNamedBy } from '../kernel/spill/named-blobs.js'

const CODECS: ReadonlyMap<string, AnyCodec> = new Map(
  catalogue.flatMap(({ events }) => Object.entries(events)),
)

/** What is wrong with an event, without quoting it. */
export interface CheckedEvent {
  readonly errors: readonly string[]
  /** Absent if it is unreadable. */
  readonly event?: RecordedEvent
}

/** Returns a check to call with every event of a log, in log order. */
export const eventChecks = (blobs: Pick<BlobStore, 'open'>) => {
  const revisions: number[] = []
  const verifiedBlobs = new Set<string>()

  const revisionErrors = ({ sid, stream, revision }: WrittenEvent): readonly string[] => {
    const expected = (revisions[sid] ?? -1) + 1
    revisions[sid] = revision
    return revision === expected
      ? []
      : [`stream ${JSON.stringify(stream)} has revision ${revision} where ${expected} is expected`]
  }

  const blobErrors = async (event: RecordedEvent): Promise<readonly string[]> => {
    const errors: string[] = []
    for (const digest of blobsNamedBy(event)) {
      if (verifiedBlobs.has(digest)) continue
      const problem = await problemOfBlob(blobs, digest)
      if (problem === undefined) verifiedBlobs.add(digest)
      else errors.push(`blob ${digest} ${problem}`)
    }
    return errors
  }

  return async (written: WrittenEvent): Promise<CheckedEvent> => {
    const inStream = revisionErrors(written)
    const event = recordedEvent(written)
    if (event.unreadable !== undefined)
      return { errors: [...inStream, `stream ${JSON.stringify(written.stream)}: ${event.unreadable}`] }
    return { errors: [...inStream, ...dataErrors(event), ...(await blobErrors(event))], event }
  }
}

const dataErrors = ({ type, data }: RecordedEvent): readonly string[] => {
  const codec = CODECS.get(type)
  if (codec === undefined) return [`unknown event type ${JSON.stringify(type)}`]
  return codec.quick(data) !== undefined || codec.decode(data)._tag === 'Right'
    ? []
    : [`the data does not match the codec of ${type}`]
}

/** The event, which may be unreadable. */
export const recordedEvent = (written: WrittenEvent): RecordedEvent => {
  const { position, stream, revision, id, type, recordedAt, ...texts } = written
  const place = {
    id,
    type,
    stream,
    revision: BigInt(revision),
    position: BigInt(position),
    recordedAt: new Date(recordedAt),
  }
  const damage =
    texts.data !== ''
      ? rowOrDigestDamage(texts.seal, written, texts)
      : id === ''
        ? DAMAGED_PAGE
        : 'its pack is damaged'
  if (damage !== undefined) return unreadableEvent(place, damage)
  const data = objectIn(texts.data)
  const metadata = objectIn(texts.metadata)
  return data === undefined || metadata === undefined
    ? unreadableEvent(place, 'its data or metadata is not a JSON object')
    : { ...place, data, metadata: metadata as EventMetadata, size: texts.data.length + texts.metadata.length }
}

const objectIn = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = parseJson(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const problemOfBlob = async (blobs: Pick<BlobStore, 'open'>, digest: string): Promise<string | undefined> => {
  try {
    const blob = await blobs.open(digest)
    if (blob === undefined) return 'is missing'
    // The store compares the content with its digest.
    let left = blob.size
    for await (const chunk of blob.chunks) left -= chunk.length
    return left === 0 ? undefined : 'is corrupt'
  } catch (error) {
    if (error instanceof BlobDamaged) return 'is corrupt'
    throw error
  }
}
