import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { BLOBS } from '../adapters/blobs/bucket-blob-store.js'
import { logUsage } from '../application/disk/log-usage.js'
import { rowsOfBlobs, rowsOfEvents, summed, tableText, type DiskRow } from '../application/disk/report.js'
import { openLogSource } from '../composition/log-sources.js'
import { openBucket } from '../composition/objects.js'
import type { Config } from '../config.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { isAnswering } from './answering.js'
import { directoryUsage } from './disk-files.js'
import { measuredEvents, measuredRows } from './measured-events.js'
import { progressOn } from './progress.js'

interface Disk {
  readonly url: string | undefined
  /** Of a policy that erases the content of older calls. */
  readonly contentDays: number | undefined
  readonly isJson: boolean
}

const DAY_MS = 86_400_000

/**
 * `tallytree disk`: prints what takes the space, by project and kind, and what a policy would give back. Reads the log of the
 * running service, or the stores of the configuration while it is stopped. Returns the exit code.
 */
export const disk = async ({ url, contentDays, isJson }: Disk, config: Config): Promise<number> => {
  const { dataDirectory, eventStoreUrl } = config
  if (contentDays !== undefined && eventStoreUrl !== null)
    throw new OperatorError('--content-days: an EventStoreDB cannot erase content; see docs/erasure.md')
  const cutoff = contentDays === undefined ? undefined : new Date(Date.now() - contentDays * DAY_MS)
  const named = await sourceOf(url, config)
  const usage = logUsage(cutoff)
  await readLog(named, config, usage.add)
  const files = await directoryUsage(dataDirectory)
  const bucket = await bucketUsage(config)
  const { all, erasable } = usage.content()
  const tables = Array.from(files.tables, ([table, bytes]): DiskRow => {
    const share = table === 'calls' && all > 0 ? erasable / all : 0
    const kind = `read models: ${table}`
    return { project: undefined, kind, items: 1, bytes, givenBack: Math.round(bytes * share) }
  })
  const rows = summed([
    ...(eventStoreUrl === null ? rowsOfEvents(usage.events(), files.logBytes) : []),
    ...rowsOfBlobs([...files.blobs, ...bucket.blobs], usage.blobs),
    ...tables,
    ...files.rows,
    ...bucket.rows,
  ])
  const unknown = unknownOf(config)
  process.stdout.write(isJson ? jsonOf(rows, contentDays, unknown) : tableText(rows, contentDays))
  if (!isJson) for (const line of unknown) process.stdout.write(`not counted: ${line}\n`)
  return 0
}

/** The running service, whose log no other process can read, or the stores of the configuration. */
const sourceOf = async (url: string | undefined, config: Config): Promise<string> => {
  const { host, port, eventStoreUrl, dataDirectory } = config
  const address = url ?? `http://${host}:${port}`
  const isEmbedded = (await stat(join(dataDirectory, 'events.db')).catch(() => undefined)) !== undefined
  if (eventStoreUrl === null && !isEmbedded)
    throw new OperatorError(
      `${dataDirectory} does not contain a log (events.db): use the machine and the TALLYTREE_DATA_DIR of the service`,
    )
  if (url !== undefined || (eventStoreUrl === null && (await isAnswering(address)))) return address
  return eventStoreUrl ?? dataDirectory
}

type Add = ReturnType<typeof logUsage>['add']

const readLog = async (named: string, config: Config, add: Add): Promise<void> => {
  const progress = progressOn(process.stderr, 'reading')
  let events = 0
  const note = (event: Parameters<Add>[0], part: number) => {
    add(event)
    events += 1
    progress.note(events, part)
  }
  if (named === config.dataDirectory)
    for (const { event, position, end } of measuredRows(join(named, 'events.db'))) note(event, position / end)
  else {
    const { log } = await openLogSource(named, config)
    try {
      const head = await log.head()
      for await (const { event, position } of measuredEvents(log, head)) note(event, position / Number(head))
    } finally {
      await log.close()
    }
  }
  progress.end()
}

const IN_BUCKET: Readonly<Record<string, string>> = {
  attempts: 'attempts of deliveries',
  secrets: 'secrets',
  log: 'signed tree of the log',
  incoming: 'unfinished uploads',
}

/** What the objects of the bucket take. */
const bucketUsage = async ({ objects }: Pick<Config, 'objects'>) => {
  const blobs = new Map<string, number>()
  const rows: DiskRow[] = []
  if (objects === null) return { blobs, rows }
  const bucket = await openBucket(objects)
  try {
    for await (const { key, size } of bucket.list('')) {
      const kind = IN_BUCKET[key.split('/')[0]!] ?? 'other objects'
      if (key.startsWith(BLOBS)) blobs.set(key.slice(BLOBS.length), size)
      else rows.push({ project: undefined, kind, items: 1, bytes: size, givenBack: 0 })
    }
  } finally {
    bucket.close()
  }
  return { blobs, rows }
}

const unknownOf = ({ eventStoreUrl, clickHouseUrl, objects }: Config): readonly string[] => [
  ...(eventStoreUrl === null
    ? []
    : [`the event log in the EventStoreDB at ${hostIn(eventStoreUrl)}, which does not say what it takes`]),
  ...(clickHouseUrl === null
    ? []
    : [`the read models in the ClickHouse server at ${hostIn(clickHouseUrl)}; ask its table system.parts`]),
  ...(objects === null
    ? []
    : [`earlier versions and unfinished parts of uploads in the bucket ${objects.bucket}`]),
]

/** Without user and password. */
const hostIn = (url: string): string => /^[^/]*\/\/(?:[^@/]*@)?([^/?]*)/.exec(url)?.[1] ?? ''

const jsonOf = (
  rows: readonly DiskRow[],
  contentDays: number | undefined,
  unknown: readonly string[],
): string => {
  const figures = rows.map(({ project, kind, items, bytes, givenBack }) => ({
    ...{ project: project ?? null, kind, items, bytes },
    ...(contentDays === undefined ? {} : { given_back: givenBack }),
  }))
  const policy = contentDays === undefined ? {} : { content_days: contentDays }
  return `${JSON.stringify({ ...policy, rows: figures, not_counted: unknown }, null, 2)}\n`
}
