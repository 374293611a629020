import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openEmbeddedClickHouse } from '../adapters/clickhouse/embedded.js'
import { openLogSource } from '../composition/log-sources.js'
import type { Config } from '../config.js'
import { opOf } from '../domain/calls/op.js'
import { memberText } from '../kernel/json/text.js'
import { SHOWN_COUNTERS } from '../projections/usage/columns.js'
import { finishedCalls, type FinishedCall } from './finished-calls.js'
import { progressOn } from './progress.js'

interface ParquetExport {
  readonly to: string
  readonly from: string | undefined
  readonly project: string | undefined
}

const INSTANT = "DateTime64(6, 'UTC')"
const USAGE = `Array(Tuple(model String, ${SHOWN_COUNTERS.map((counter) => `${counter} Int64`).join(', ')}))`

/** The columns of the file: their types in the engine, and what they have of a call. */
const COLUMNS: Readonly<Record<string, readonly [type: string, of: (call: FinishedCall) => unknown]>> = {
  project_id: ['String', ({ start }) => start.project_id],
  id: ['String', ({ start }) => start.id],
  trace_id: ['String', ({ start }) => start.trace_id],
  parent_id: ['Nullable(String)', ({ start }) => start.parent_id],
  thread_id: ['Nullable(String)', ({ start }) => start.thread_id],
  op_name: ['String', ({ start }) => opOf(start.op_name)],
  display_name: ['Nullable(String)', ({ start }) => start.display_name],
  wb_user_id: ['Nullable(String)', ({ start }) => start.wb_user_id],
  started_at: [INSTANT, ({ start }) => start.started_at.replace('Z', '')],
  ended_at: [INSTANT, ({ end }) => end.ended_at.replace('Z', '')],
  exception: ['Nullable(String)', ({ end }) => end.exception],
  attributes: ['String', ({ start }) => memberText(start, 'attributes')],
  inputs: ['String', ({ start }) => memberText(start, 'inputs')],
  output: ['String', ({ end }) => memberText(end, 'output')],
  summary: ['String', ({ end }) => memberText(end, 'summary')],
  usage: [USAGE, ({ usage }) => usage?.models ?? []],
}

const BATCH = { calls: 2000, characters: 16 * 1024 * 1024 }

/** `tallytree export parquet`: writes the finished calls of a log to a file. Returns the exit code. */
export const exportParquet = async (
  { to, from, project }: ParquetExport,
  config: Pick<Config, 'apiKey' | 'dataDirectory' | 'eventStoreUrl' | 'objects'>,
): Promise<number> => {
  const { log: source } = await openLogSource(from ?? config.eventStoreUrl ?? config.dataDirectory, config)
  const directory = await mkdtemp(join(tmpdir(), 'tallytree-export-'))
  const clickHouse = await openEmbeddedClickHouse(directory)
  const { writer } = clickHouse
  try {
    const columns = Object.keys(COLUMNS)
    const types = columns.map((column) => `${column} ${COLUMNS[column]![0]}`).join(', ')
    await writer.command(
      `CREATE TABLE calls (${types}) ENGINE = MergeTree ORDER BY (project_id, started_at, id)`,
    )
    const progress = progressOn(process.stderr, 'writing', undefined, 'calls')
    const end = await source.head()
    let [calls, characters, rows] = [0, 0, [] as (readonly unknown[])[]]
    const insert = async () => {
      if (rows.length > 0) await writer.insert({ table: 'calls', columns, values: rows })
      characters = 0
      rows = []
    }
    for await (const call of finishedCalls({ source, project, after: 0n, end })) {
      const row = columns.map((column) => COLUMNS[column]![1](call))
      for (const value of row) if (typeof value === 'string') characters += value.length
      calls = calls + 1
      if (rows.push(row) >= BATCH.calls || characters >= BATCH.characters) await insert()
      progress.note(calls, Number(call.position) / Number(end))
    }
    await insert()
    progress.end()
    const path = resolve(to)
    const quoted = `${path}.partial`.replace(/[\\']/g, '\\$&')
    await writer.command(
      `SELECT * FROM calls ORDER BY project_id, started_at, id INTO OUTFILE '${quoted}' TRUNCATE FORMAT Parquet`,
    )
    await rename(`${path}.partial`, path)
    process.stdout.write(`wrote ${calls} calls to ${to}, up to position ${end}\n`)
    return 0
  } finally {
    await clickHouse.close()
    await source.close()
    // A thread of the engine may still write there.
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}
