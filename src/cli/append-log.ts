import type { BlobStore } from '../domain/ports/blobs.js'
import type { EventStore, Position, RecordedEvent } from '../domain/ports/event-store.js'
import { ConcurrencyConflict } from '../domain/ports/event-store-errors.js'
import type { LogSource } from '../domain/ports/log-source.js'
import { OperatorError } from '../domain/ports/operator-error.js'
import { copyBlobs } from './copy-blobs.js'

export interface Appending {
  readonly source: LogSource
  readonly store: EventStore
  readonly blobs: BlobStore
}

/** Characters of one append: a store must take a mebibyte of bytes. */
const MOST_CHARACTERS = 256 * 1024

/**
 * Appends a log to a store of another kind, event after event: ids, streams, revisions and the order are the source's,
 * positions and times the store's own. Run again after it was cut off, it goes on where the store ends.
 *
 * @throws OperatorError when the store holds another log
 */
export const appendLog = async (
  { source, store, blobs }: Appending,
  upTo: Position,
  note: (events: number, position: Position) => void,
): Promise<number> => {
  const from = await firstMissing(source, store, upTo)
  let appended = 0
  let run: RecordedEvent[] = []
  let characters = 0

  const append = async () => {
    const [first] = run
    if (first === undefined) return
    await copyBlobs(source, blobs, run)
    await store
      .append(first.stream, first.revision === 0n ? 'none' : first.revision - 1n, run)
      .catch(explained)
    appended += run.length
    note(appended, run.at(-1)!.position)
    run = []
    characters = 0
  }

  for await (const event of source.readAll(from)) {
    if (event.position > upTo) break
    // An old log may have an id twice in a stream; one append may not.
    const isRepeated = run.some(({ id }) => id === event.id)
    if (event.stream !== run[0]?.stream || isRepeated || characters + event.size > MOST_CHARACTERS)
      await append()
    run.push(event)
    characters += event.size
  }
  await append()
  return appended
}

const explained = (error: unknown): never => {
  if (!(error instanceof ConcurrencyConflict)) throw error
  throw new OperatorError(
    `the store contains another log, or another program is writing to it: ${error.message}`,
  )
}

/** Events were appended in order, so what is there ends somewhere: the position in the source behind which nothing is. */
const firstMissing = async (source: LogSource, store: EventStore, upTo: Position): Promise<Position> => {
  let [there, missing] = [0n, upTo]
  if ((await store.head()) === 0n) return 0n
  if (!(await isThere(source, store, 0n)))
    throw new OperatorError('the store already contains events of another log')
  while (there < missing) {
    const middle = (there + missing) / 2n
    if (await isThere(source, store, middle)) there = middle + 1n
    else missing = middle
  }
  return there
}

/** Whether the store has the first event behind a position of the source. */
const isThere = async (source: LogSource, store: EventStore, after: Position): Promise<boolean> => {
  for await (const { stream, revision, id } of source.readAll(after)) {
    for await (const event of store.readStream(stream, { from: revision, limit: 1 })) return event.id === id
    return false
  }
  return false
}
