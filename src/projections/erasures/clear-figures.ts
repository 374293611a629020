import { REF_SCHEME } from '../../domain/refs/ref.js'
import type { ClickHouse, ClickHouseWriter } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { ITEMS } from '../annotation-queues/tables.js'
import { CALL_INDEX, CALLS } from '../calls/tables.js'
import { EVALUATION_ROWS } from '../evaluations/tables.js'
import { FEEDBACK } from '../feedback/tables.js'
import { FACTS, USAGE_TOTALS } from '../usage/tables.js'
import { readTotalsState } from '../usage/totals-state.js'

/** The traces of erased calls. It stays until an erasure has finished, because the facts are deleted before. */
const ERASED_TRACES = 'erased_traces'

/** By table. */
export type Mutations = Readonly<Record<string, string>>

const ofCalls = (erased: string, id = 'id', from = 'id'): string =>
  `DELETE WHERE (project_id, ${id}) IN (SELECT project_id, ${from} FROM ${erased})`

/** The mutations that remove all rows of calls, which are in the table `erased`. */
export const figureMutations = (erased: string): Mutations => ({
  [CALLS.name]: ofCalls(erased),
  [CALL_INDEX.name]: ofCalls(erased),
  [FACTS.name]: ofCalls(erased, 'call_id'),
  [ITEMS.name]: ofCalls(erased, 'call_id'),
  [FEEDBACK.name]: ofCalls(
    erased,
    "ifNull(weave_ref, '')",
    `concat('${REF_SCHEME}', project_id, '/call/', id)`,
  ),
  [EVALUATION_ROWS.name]: `DELETE WHERE project_id IN (SELECT project_id FROM ${erased})`,
})

/** To be begun once no totals are computed of facts that were there before. */
export const TOTALS_MUTATIONS: Mutations = {
  [USAGE_TOTALS.name]: ofCalls(ERASED_TRACES, 'trace_id', 'trace_id'),
}

export const isComputingTotals = async (reader: ClickHouse['reader']): Promise<boolean> => {
  const { complete, target } = await readTotalsState(reader)
  return complete < target
}

/**
 * Has the totals of the traces of erased calls computed again, from what is left of them: a fact without any values makes a trace
 * look as if it changed at the next position.
 */
export const recomputeTotals = async (
  { writer, reader }: Pick<ClickHouse, 'writer' | 'reader'>,
  erased: string,
  head: () => Promise<Position>,
): Promise<void> => {
  await writer.command(
    `CREATE TABLE IF NOT EXISTS ${ERASED_TRACES} (project_id String, trace_id String)\nENGINE = MergeTree\nORDER BY (project_id, trace_id)`,
  )
  await writer.command(
    `INSERT INTO ${ERASED_TRACES} SELECT DISTINCT project_id, trace_id FROM ${FACTS.name}
    WHERE (project_id, call_id) IN (SELECT project_id, id FROM ${erased})`,
  )
  for (;;) {
    const next = (await head()) + 1n
    await writer.command(
      `INSERT INTO ${FACTS.name} (project_id, trace_id, call_id, position)
      SELECT project_id, trace_id, min(call_id), ${next} FROM ${FACTS.name}
      WHERE (project_id, trace_id) IN (SELECT project_id, trace_id FROM ${ERASED_TRACES})
        AND (project_id, call_id) NOT IN (SELECT project_id, id FROM ${erased})
      GROUP BY project_id, trace_id`,
    )
    const { complete, target } = await readTotalsState(reader)
    if (complete < next && target < next) return
  }
}

export const dropErasedTraces = (writer: ClickHouseWriter): Promise<void> =>
  writer.command(`DROP TABLE IF EXISTS ${ERASED_TRACES} SYNC`)
