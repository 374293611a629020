import { readdir, readlink, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { DiskRow } from '../application/disk/report.js'

interface FoundFile {
  /** Relative to the directory, its parts separated by a slash. */
  readonly path: string
  readonly bytes: number
}

/** All files below a directory, also while a service changes it. */
async function* filesBelow(directory: string, start = ''): AsyncGenerator<FoundFile> {
  const entries = await readdir(join(directory, start), { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const path = `${start}${entry.name}`
    if (entry.isDirectory()) yield* filesBelow(directory, `${path}/`)
    if (!entry.isFile()) continue
    const found = await stat(join(directory, path)).catch(() => undefined)
    if (found !== undefined) yield { path, bytes: found.size }
  }
}

const KINDS: readonly (readonly [pattern: RegExp, kind: string])[] = [
  [/^log-(?:tree\.db|keys)/, 'signed tree of the log'],
  [/^attempts\.db/, 'attempts of deliveries'],
  [/^blob-cache\//, 'cache of payloads'],
  [/^blobs\/incoming\//, 'unfinished uploads'],
  [/^(?:secrets\.db|master-keys)/, 'secrets'],
  [/^dispatcher\.db|^[a-z-]+\.json$/, 'state of the service'],
]

export interface DirectoryUsage {
  /** Of the event log. */
  readonly logBytes: number
  readonly blobs: ReadonlyMap<string, number>
  /** Of the tables of the embedded engine, by name. */
  readonly tables: ReadonlyMap<string, number>
  /** What is neither of these. */
  readonly rows: readonly DiskRow[]
}

/** What the files of a data directory take. */
export const directoryUsage = async (directory: string): Promise<DirectoryUsage> => {
  const tableOf = await tablesIn(join(directory, 'clickhouse'))
  let logBytes = 0
  const blobs = new Map<string, number>()
  const tables = new Map<string, number>()
  const rows: DiskRow[] = []
  for await (const { path, bytes } of filesBelow(directory)) {
    const [top = '', , ...rest] = path.split('/')
    if (/^events\.db(?:-|$)/.test(path)) logBytes += bytes
    else if (top === 'clickhouse') {
      const table = tableOf.get(rest[1] ?? '') ?? 'others'
      tables.set(table, (tables.get(table) ?? 0) + bytes)
    } else {
      const kind = KINDS.find(([pattern]) => pattern.test(path))?.[1]
      if (kind === undefined && top === 'blobs') blobs.set(basename(path), bytes)
      else rows.push({ project: undefined, kind: kind ?? 'other files', items: 1, bytes, givenBack: 0 })
    }
  }
  return { logBytes, blobs, tables, rows }
}

/** The table of each folder of `clickhouse/store`, by the folder's name. */
const tablesIn = async (directory: string): Promise<ReadonlyMap<string, string>> => {
  const tables = new Map<string, string>()
  const data = join(directory, 'data')
  for (const database of await readdir(data).catch(() => []))
    for (const table of await readdir(join(data, database)).catch(() => [])) {
      const target = await readlink(join(data, database, table)).catch(() => undefined)
      if (target !== undefined) tables.set(basename(target), table)
    }
  return tables
}
