import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import { instantFrom } from '../clickhouse-values.js'
import type { Rebuild, RebuildState } from './rebuild-row.js'

export { REBUILD_STATES, UNFINISHED, type Rebuild, type RebuildState } from './rebuild-row.js'

type Reader = Pick<ClickHouseReader, 'query'>

/** Rebuilds that are in one of the given states, the newest request first. */
export const rebuildsIn = async (
  reader: Reader,
  states: readonly RebuildState[],
  limit: number,
): Promise<readonly Rebuild[]> => {
  const rows = await reader.query<RebuildRow>(
    `SELECT ${COLUMNS} FROM rebuilds FINAL WHERE state IN {states:Array(String)}
    ORDER BY rebuilds.requested_position DESC LIMIT {limit:UInt64}`,
    { states, limit },
  )
  return rows.map(rebuildFrom)
}

export const rebuildOf = async (reader: Reader, id: string): Promise<Rebuild | undefined> => {
  const [row] = await reader.query<RebuildRow>(
    `SELECT ${COLUMNS} FROM rebuilds FINAL WHERE id = {id:String}`,
    { id },
  )
  return row && rebuildFrom(row)
}

const COLUMNS = `id, version, state, toString(requested_position) AS requested, requested_at AS asked, requested_by,
  started_at AS started, finished_at AS finished, toString(reached) AS at, toString(target) AS goal, events,
  events_per_second, remaining_seconds, changed_models, rebuilt, reason`

type Renamed = 'requested_position' | 'requested_at' | 'started_at' | 'finished_at' | 'reached' | 'target'

type RebuildRow = Omit<Rebuild, Renamed> & {
  readonly requested: string
  readonly asked: string
  readonly started: string | null
  readonly finished: string | null
  readonly at: string
  readonly goal: string
}

const rebuildFrom = ({ requested, asked, started, finished, at, goal, ...row }: RebuildRow): Rebuild => ({
  ...row,
  requested_position: BigInt(requested),
  requested_at: instantFrom(asked),
  started_at: started === null ? null : instantFrom(started),
  finished_at: finished === null ? null : instantFrom(finished),
  reached: BigInt(at),
  target: BigInt(goal),
})
