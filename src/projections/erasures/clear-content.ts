import { setTimeout as sleep } from 'node:timers/promises'
import { REF_SCHEME } from '../../domain/refs/ref.js'
import type { ClickHouse, ClickHouseWriter } from '../../kernel/ports/clickhouse.js'
import { QUEUES } from '../annotation-queues/tables.js'
import { CALLS } from '../calls/tables.js'
import { EVALUATION_ROWS } from '../evaluations/tables.js'
import { FEEDBACK } from '../feedback/tables.js'
import { OBJECT_VERSIONS } from '../objects/tables.js'
import { RUN_CHANGES, RUN_SUMMARIES } from '../runs/tables.js'
import { ROWS } from '../tables/tables.js'
import type { Position } from '../../kernel/ports/event-store.js'
import {
  dropErasedTraces,
  figureMutations,
  isComputingTotals,
  recomputeTotals,
  TOTALS_MUTATIONS,
  type Mutations,
} from './clear-figures.js'

/** The calls whose content is erased. A mutation reads them from a table, because a statement with many ids takes long. */
const ERASED_CALLS = 'erased_calls'
const OF_FEEDBACK = `concat('${REF_SCHEME}', project_id, '/call/', id)`
const IDS_AT_ONCE = 10_000
const POLL_MS = 100

interface HasContent {
  readonly name: string
  readonly columns: Readonly<Record<string, { readonly type: string; readonly erased?: string }>>
}

/** Of a constant NULL, the engine would only write the map of nulls, and keep the values in the file. */
const NULL = "materialize(CAST(NULL, 'Nullable(String)'))"

/** What an erasure leaves of the columns that have content. A value that is not in a row stays so. */
const assignments = ({ columns }: HasContent): string =>
  Object.entries(columns)
    .flatMap(([name, { type, erased }]) => {
      if (erased === undefined) return []
      if (erased === 'NULL') return [`${name} = ${NULL}`]
      return [`${name} = ${type.includes('Nullable') ? `if(isNull(${name}), NULL, ${erased})` : erased}`]
    })
    .join(', ')

/** The mutations that remove the content of calls. Stored rows of evaluations are made again from their calls. */
const OF_CALLS: Mutations = {
  [CALLS.name]: `UPDATE ${assignments(CALLS)} WHERE (project_id, id) IN (SELECT project_id, id FROM ${ERASED_CALLS})`,
  [FEEDBACK.name]: `UPDATE ${assignments(FEEDBACK)} WHERE (project_id, ifNull(weave_ref, '')) IN (SELECT project_id, ${OF_FEEDBACK} FROM ${ERASED_CALLS})`,
  [EVALUATION_ROWS.name]: `DELETE WHERE project_id IN (SELECT project_id FROM ${ERASED_CALLS})`,
}

const IN_PROJECT = `WHERE project_id IN (SELECT project_id FROM ${ERASED_CALLS})`

/** Rows stay: missing ones would be taken for lost, and a rebuild makes them again. */
const OF_PROJECT: Mutations = {
  ...Object.fromEntries(
    [CALLS, FEEDBACK, OBJECT_VERSIONS, ROWS, RUN_CHANGES, RUN_SUMMARIES, QUEUES].map((table) => [
      table.name,
      `UPDATE ${assignments(table)} ${IN_PROJECT}`,
    ]),
  ),
  [EVALUATION_ROWS.name]: `DELETE ${IN_PROJECT}`,
}

/**
 * Removes the content of calls from all rows of the read models, and from the files of parts that are no longer used. Resolves once
 * it is gone. `insertAgain` inserts the rows of the erased events, which bring the figures of attributes and summaries back.
 */
export const clearContent = (
  clickHouse: Pick<ClickHouse, 'writer'>,
  projectId: string,
  ids: readonly string[],
  insertAgain: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> => clear(clickHouse, OF_CALLS, projectId, ids, insertAgain, signal)

/** Removes the content of a project, as {@link clearContent} does that of calls. */
export const clearProject = (
  clickHouse: Pick<ClickHouse, 'writer'>,
  projectId: string,
  signal: AbortSignal,
): Promise<void> => clear(clickHouse, OF_PROJECT, projectId, [''], () => Promise.resolve(), signal)

/** Removes all rows of calls, and has the totals of what is left of their traces computed again. `head` is the end of the log. */
export const clearFigures = (
  clickHouse: Pick<ClickHouse, 'writer' | 'reader'>,
  projectId: string,
  ids: readonly string[],
  insertAgain: () => Promise<void>,
  signal: AbortSignal,
  head: () => Promise<Position>,
): Promise<void> => {
  const { reader, writer } = clickHouse
  const begin = () => recomputeTotals(clickHouse, ERASED_CALLS, head)
  const end = async () => {
    await until(async () => !(await isComputingTotals(reader)), signal)
    await mutate(writer, TOTALS_MUTATIONS, signal)
    await insertAgain()
    await dropErasedTraces(writer)
  }
  const more = { begin, alsoMutated: Object.keys(TOTALS_MUTATIONS) }
  return clear(clickHouse, figureMutations(ERASED_CALLS), projectId, ids, end, signal, more)
}

interface MoreToClear {
  readonly begin: () => Promise<void>
  /** Tables of mutations that `insertAgain` waits for. */
  readonly alsoMutated: readonly string[]
}

const clear = async (
  { writer }: Pick<ClickHouse, 'writer'>,
  mutations: Mutations,
  projectId: string,
  ids: readonly string[],
  insertAgain: () => Promise<void>,
  signal: AbortSignal,
  { begin, alsoMutated }: MoreToClear = { begin: () => Promise.resolve(), alsoMutated: [] },
): Promise<void> => {
  const tables = [...new Set([...Object.keys(mutations), ...alsoMutated])]
  const drop = () => writer.command(`DROP TABLE IF EXISTS ${ERASED_CALLS} SYNC`)
  await drop()
  await writer.command(
    `CREATE TABLE IF NOT EXISTS ${ERASED_CALLS} (project_id String, id String)\nENGINE = MergeTree\nORDER BY (project_id, id)`,
  )
  for (let from = 0; from < ids.length; from += IDS_AT_ONCE)
    await writer.insert({
      table: ERASED_CALLS,
      columns: ['project_id', 'id'],
      values: ids.slice(from, from + IDS_AT_ONCE).map((id) => [projectId, id]),
    })
  await begin()
  await mutate(writer, mutations, signal)
  await insertAgain()
  await removeInactiveParts(writer, tables, signal)
  await drop()
}

const mutate = async (writer: ClickHouseWriter, mutations: Mutations, signal: AbortSignal): Promise<void> => {
  for (const [table, mutation] of Object.entries(mutations))
    await writer.command(
      `ALTER TABLE ${table} ${mutation} SETTINGS mutations_sync = 0, allow_nondeterministic_mutations = 1`,
    )
  await until(async () => (await unfinishedMutations(writer, Object.keys(mutations))) === 0, signal)
}

const unfinishedMutations = async (writer: ClickHouseWriter, tables: readonly string[]): Promise<number> => {
  const rows = await writer.query<{ table: string; reason: string }>(
    `SELECT table, latest_fail_reason AS reason FROM system.mutations
    WHERE database = currentDatabase() AND table IN {tables:Array(String)} AND NOT is_done`,
    { tables },
  )
  const failed = rows.find(({ reason }) => reason !== '')
  if (failed !== undefined) throw new MutationFailed(`a mutation of the table ${failed.table} fails`)
  return rows.length
}

class MutationFailed extends Error {
  override readonly name = 'MutationFailed'
}

/**
 * The engine keeps replaced parts for minutes, in case the machine crashes; these were synced. Its thread that removes them sleeps
 * for half a minute or more, and is not woken earlier than its delay after its last round.
 */
const AT_ONCE = { old_parts_lifetime: 0, cleanup_delay_period: 1, cleanup_delay_period_random_add: 0 }
const SETTINGS = Object.entries(AT_ONCE).map(([name, value]) => `${name} = ${value}`)

const removeInactiveParts = async (
  writer: ClickHouseWriter,
  tables: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const inactive = () =>
    writer.query<{ name: string; table: string }>(
      `SELECT table, name FROM system.parts
      WHERE NOT active AND database = currentDatabase() AND table IN {tables:Array(String)}`,
      { tables },
    )
  const keyOf = ({ name, table }: { readonly name: string; readonly table: string }) => `${table}/${name}`
  const replaced = new Set((await inactive()).map(keyOf))
  if (replaced.size === 0) return
  for (const table of tables)
    await writer.command(`ALTER TABLE ${table} MODIFY SETTING ${SETTINGS.join(', ')}`)
  await until(async () => {
    for (const table of tables) await writer.command(`SYSTEM START CLEANUP ${table}`)
    return (await inactive()).every((part) => !replaced.has(keyOf(part)))
  }, signal)
  for (const table of tables)
    await writer.command(`ALTER TABLE ${table} RESET SETTING ${Object.keys(AT_ONCE).join(', ')}`)
}

/** @throws the reason of the abort */
const until = async (isDone: () => Promise<boolean>, signal: AbortSignal): Promise<void> => {
  while (!(await isDone())) {
    signal.throwIfAborted()
    await sleep(POLL_MS)
  }
}
