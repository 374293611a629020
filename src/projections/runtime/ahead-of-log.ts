import type { ClickHouse } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
import { modelTables } from '../rebuild/model-tables.js'
import { readCheckpoint } from './checkpoint.js'

/**
 * Empties read models that know more than the log has, which was restored to an earlier state or lost its end: they would
 * show what is not there, and pass over what comes. They are made anew from the log.
 */
export const emptyIfAheadOfLog = async (
  { writer, database }: Pick<ClickHouse, 'writer' | 'database'>,
  head: Position,
  log: Pick<Log, 'error'>,
): Promise<void> => {
  const checkpoint = await readCheckpoint(writer)
  if (checkpoint <= head) return
  log.error('projection.ahead_of_log', {
    log_ends_at: String(head),
    read_models_know: String(checkpoint),
    reason:
      'the log was restored to an earlier state, or lost its end: the read models are made anew from what it has',
  })
  const tables = Object.keys(await modelTables(writer, database))
  // The checkpoint goes last, so that what is cut off begins anew at the next start.
  for (const name of [...tables, 'checkpoints']) await writer.command(`TRUNCATE TABLE \`${name}\``)
}
