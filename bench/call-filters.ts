import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedConnection } from '../src/adapters/clickhouse/embedded-connection.js'
import { openEmbeddedClickHouse } from '../src/adapters/clickhouse/embedded.js'
import type { ClickHouseReader } from '../src/domain/ports/clickhouse.js'
import type { Operation } from '../src/domain/query/expression.js'
import { callIds, NO_FILTER, type CallsFilter } from '../src/projections/calls/queries.js'
import { migrate } from '../src/projections/migrate.js'
import { fillCalls, someCall } from '../test/support/many-calls.js'
import { rowsReadBy } from '../test/support/rows-read.js'
import { median, ratio } from './support/report.js'

/**
 * How long do filters take over a million calls in 20,000 traces, and how many rows are read for them? Against the same
 * SQL written by hand, with ids found first where an index knows them, in turns in the same process.
 */

const CALLS = Number(process.env['CALLS'] ?? 1_000_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 15)
const HEAD = 10 * CALLS
const PROJECT = 'bench/filters'

const fill = async (directory: string): Promise<void> => {
  const clickHouse = await openEmbeddedClickHouse(directory)
  const { writer } = clickHouse
  await migrate(writer)
  await fillCalls(writer, PROJECT, CALLS)
  await writer.command('OPTIMIZE TABLE calls FINAL')
  await writer.command(`INSERT INTO checkpoints VALUES ('main', ${HEAD})`)
  await clickHouse.close()
}

interface Some {
  readonly id: string
  readonly trace_id: string
  readonly parent_id: string
  readonly op_name: string
  readonly text: string
}

interface Way {
  readonly name: string
  readonly filter?: Partial<CallsFilter>
  readonly operation?: Operation
  readonly byHand: string
}

const found = (condition: string) =>
  `id IN (SELECT id FROM calls WHERE project_id = '${PROJECT}' AND ${condition})`

const waysOf = ({ id, trace_id, parent_id, op_name, text }: Some): readonly Way[] => [
  { name: 'a call', filter: { call_ids: [id] }, byHand: `id = '${id}'` },
  { name: 'a trace', filter: { trace_ids: [trace_id] }, byHand: found(`trace_id = '${trace_id}'`) },
  { name: 'a parent', filter: { parent_ids: [parent_id] }, byHand: found(`parent_id = '${parent_id}'`) },
  { name: 'an op', filter: { op_names: [op_name] }, byHand: found(`op_name = '${op_name}'`) },
  { name: 'any version of an op', filter: { op_names: ['op-7'] }, byHand: found(`op = 'op-7'`) },
  {
    name: 'a trace, as a query',
    operation: { $eq: [{ $getField: 'trace_id' }, { $literal: trace_id }] },
    byHand: found(`trace_id = '${trace_id}'`),
  },
  {
    name: 'a number in the inputs',
    operation: { $eq: [{ $getField: 'inputs.x' }, { $literal: 7 }] },
    byHand: `JSONExtractFloat(inputs, 'x') = 7`,
  },
  {
    name: 'a range of numbers in the inputs',
    operation: { $gt: [{ $getField: 'inputs.x' }, { $literal: 989 }] },
    byHand: `JSONExtractFloat(inputs, 'x') > 989`,
  },
  {
    name: 'a text in the inputs, asked again',
    operation: { $eq: [{ $getField: 'inputs.text' }, { $literal: text }] },
    byHand: `JSONExtractString(inputs, 'text') = '${text}'`,
  },
]

const timed = async (task: () => Promise<unknown>): Promise<number> => {
  const begin = performance.now()
  await task()
  return performance.now() - begin
}

const measure = async (directory: string): Promise<void> => {
  const clickHouse = await openEmbeddedClickHouse(directory)
  const counting = new EmbeddedConnection(directory)
  await counting.command({ query: `USE ${clickHouse.database}` })
  const [some] = await clickHouse.reader.query<Some>(someCall(PROJECT))
  for (const { name, filter, operation, byHand } of waysOf(some!)) {
    const ours = (reader: ClickHouseReader) =>
      callIds(reader)({
        projectId: PROJECT,
        filter: filter === undefined ? null : { ...NO_FILTER, ...filter },
        operation: operation ?? null,
        position: BigInt(HEAD),
        sortBy: [{ field: 'started_at', direction: 'asc' }],
        limit: null,
        offset: null,
      })
    const hand = (reader: ClickHouseReader) =>
      reader.query(
        `SELECT id, ifNull(start_bytes, 0) + if(ended_position <= ${HEAD}, ifNull(end_bytes, 0), 0) AS bytes
        FROM calls FINAL WHERE project_id = '${PROJECT}' AND started_position <= ${HEAD}
          AND (deleted_position IS NULL OR deleted_position > ${HEAD}) AND ${byHand} ORDER BY started_at, id`,
      )
    const times = { ours: [] as number[], hand: [] as number[] }
    for (let round = 0; round < ROUNDS; round += 1) {
      times.ours.push(await timed(() => ours(clickHouse.reader)))
      times.hand.push(await timed(() => hand(clickHouse.reader)))
    }
    const part = median(times.ours) / median(times.hand)
    const rows = await rowsReadBy(counting, clickHouse.reader, ours)
    const rowsByHand = await rowsReadBy(counting, clickHouse.reader, hand)
    const { length } = await ours(clickHouse.reader)
    const details = `${median(times.ours).toFixed(1)} ms, by hand ${median(times.hand).toFixed(1)} ms; rows read ${rows}, by hand ${rowsByHand}, found ${length}`
    ratio(name, part, '<= 1.5', part <= 1.5, details)
  }
  await counting.close()
  await clickHouse.close()
}

/** The engine may be open in one process at a time. */
const inAProcess = (task: string, directory: string): void =>
  void execFileSync(process.execPath, ['--import', 'tsx', import.meta.filename, task, directory], {
    stdio: 'inherit',
  })

const [task, given] = process.argv.slice(2)
if (task === 'fill' || task === 'measure') {
  await (task === 'fill' ? fill : measure)(join(given!, 'clickhouse'))
  process.exit(0)
}
const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-'))
try {
  inAProcess('fill', directory)
  inAProcess('measure', directory)
} finally {
  await rm(directory, { recursive: true, force: true })
}
