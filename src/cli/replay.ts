import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openLogCopy, type LogCopy, type RepeatedEvent } from '../adapters/event-store/sqlite/log-copy.js'
import { currentLogKeys } from '../composition/bucket-log.js'
import { openEventStoreServer } from '../composition/event-store-server.js'
import { blobsOf } from '../composition/objects.js'
import { openLogSource } from '../composition/log-sources.js'
import type { Config } from '../config.js'
import type { Position } from '../kernel/ports/event-store.js'
import type { LogSource } from '../kernel/ports/log-source.js'
import { PRIVATE_DIRECTORY } from '../kernel/private-files.js'
import type { BucketAddress } from '../kernel/ports/objects-url.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { checkpointsIn, writeCheckpoints } from './checkpoints-file.js'
import { copyEvents } from './copy-events.js'
import { digestsIn, writeDigests } from './digests-file.js'
import { logDigest, pagesOf } from './log-digest.js'
import { fileSink, storeSink } from './log-sinks.js'
import { progressOn } from './progress.js'

interface Replay {
  readonly to: string
  readonly from: string | undefined
  /** The bucket for the blobs of a copy in a directory. */
  readonly objects: BucketAddress | null
  readonly upTo: Position | undefined
}

/**
 * `tallytree replay`: copies a log into a directory on which a service can be started, or into an EventStoreDB. Returns the
 * exit code.
 */
export const replay = async ({ to, from, objects, upTo }: Replay, config: Config): Promise<number> => {
  const named = from ?? config.eventStoreUrl ?? config.dataDirectory
  if (resolve(named) === resolve(to)) throw new OperatorError('--to and --from are the same directory')
  const { log, service } = await openLogSource(
    named,
    config,
    async () => (await currentLogKeys(config))?.salt,
  )
  const { source, reportUnsealed } = countUnsealed(log)
  try {
    const end = await endOf(source.head(), upTo)
    if (isEventStoreDb(to)) return await appendTo(to, source, end, config)
    mkdirSync(resolve(to), { recursive: true, mode: PRIVATE_DIRECTORY })
    const copy = openLogCopy(join(to, 'events.db'))
    try {
      const blobs = await blobsOf(objects, to)
      const progress = progressOn(process.stderr, 'copying')
      const start = copy.last()?.position ?? 0
      const repeated: RepeatedEvent[] = []
      const sink = fileSink(copy, (one) => void repeated.push(one))
      const copied = await copyEvents({ source, sink, blobs }, end, (events, position) =>
        progress.note(events, partOf(start, Number(position), Number(end))),
      )
      progress.end()
      reportRepeated(repeated)
      reportUnsealed()
      const digests = digestOfCopy(copy)
      const { position, events } = digests
      const models = service === undefined ? null : digestsIn(await service.digestsAt(BigInt(position)))
      await writeDigests(to, { ...digests, models })
      const checkpoints =
        service === undefined ? await checkpointsIn(named, config) : await service.checkpoints()
      if (checkpoints !== undefined && repeated.length === 0) await writeCheckpoints(to, checkpoints, events)
      process.stdout.write(
        `copied ${copied} events to ${to}: ${events} in total, up to position ${position}\n`,
      )
      return 0
    } finally {
      copy.close()
    }
  } finally {
    await source.close()
  }
}

/** Counts the events that get other salts, and so another entry in the tree of the log. */
const countUnsealed = (log: LogSource) => {
  let unsealed = 0
  return {
    source: {
      ...log,
      readAll: async function* (after: Position) {
        for await (const event of log.readAll(after)) {
          if (event.seal === undefined) unsealed += 1
          yield event
        }
      },
    },
    reportUnsealed: () => {
      if (unsealed > 0)
        process.stderr.write(
          `${unsealed} events came without their salts, so the tree of the copy has another root; see docs/auditing.md#the-signed-tree\n`,
        )
    },
  }
}

const SHOWN = 100

const reportRepeated = (repeated: readonly RepeatedEvent[]): void => {
  for (const { position, stream, id, copiedAs } of repeated.slice(0, SHOWN))
    process.stderr.write(
      `position ${position}: duplicate event id ${id} in stream ${stream}; copied with the id ${copiedAs}\n`,
    )
  if (repeated.length > SHOWN)
    process.stderr.write(`… and ${repeated.length - SHOWN} more events with duplicate ids\n`)
}

const isEventStoreDb = (to: string): boolean => /^esdb(\+discover)?:\/\//.test(to)

/** Blobs go to the bucket or the data directory of the configuration, where a service over that store reads them. */
const appendTo = async (to: string, source: LogSource, end: Position, config: Config): Promise<number> => {
  const store = await openEventStoreServer(to)
  try {
    mkdirSync(resolve(config.dataDirectory), { recursive: true, mode: PRIVATE_DIRECTORY })
    const blobs = await blobsOf(config.objects, config.dataDirectory)
    const progress = progressOn(process.stderr, 'appending')
    const appended = await copyEvents({ source, sink: storeSink(store), blobs }, end, (events, position) =>
      progress.note(events, partOf(0, Number(position), Number(end))),
    )
    progress.end()
    process.stdout.write(`appended ${appended} events, up to position ${end} of the source\n`)
    return 0
  } finally {
    await store.close()
  }
}

const endOf = async (head: Promise<Position>, upTo: Position | undefined): Promise<Position> => {
  const last = await head
  if (upTo === undefined || upTo <= last) return upTo ?? last
  throw new OperatorError(`the log ends at position ${last}, before --upto ${upTo}`)
}

const partOf = (start: number, now: number, end: number): number =>
  end === start ? 1 : (now - start) / (end - start)

const digestOfCopy = (copy: LogCopy) => {
  const digest = logDigest()
  let position = 0
  for (const page of pagesOf(copy))
    for (const event of page) {
      digest.add(event)
      position = event.position
    }
  return { position, events: digest.events(), log: digest.digest() }
}
