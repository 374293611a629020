import { callDecider, callStream, type DeleteCall, type RenameCall } from '../../domain/calls/call.js'
import type { Cause } from '../../kernel/event.js'
import { commandsOf } from '../../kernel/execute.js'
import { id } from '../../kernel/ids.js'
import { inChunks } from '../../kernel/in-chunks.js'
import { later } from '../../kernel/later.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { withDescendants } from '../../projections/usage/queries.js'
import type { PresentConditions } from '../reading/reading.js'
import type { Services } from '../services.js'

/** Renames or deletes one call. */
export const changeCall = commandsOf(callDecider, ({ project_id, id }: RenameCall | DeleteCall) =>
  callStream(project_id, id),
)

/** Deletes this many calls in parallel. */
const AT_ONCE = 500

/** Finds the calls with all their descendants; returns a function that deletes them. */
export const deletingCalls =
  (services: Pick<Services, 'eventStore' | 'ids' | 'reading'>) =>
  async (
    reader: ClickHouseReader,
    project_id: string,
    callIds: readonly string[],
    conditions: PresentConditions,
  ) => {
    // Ignores `Tallytree-Stale`, which would leave recent descendants undeleted.
    const seen = await services.reading.waitForNow(project_id, { ...conditions, stale: false })
    const possible = callIds.filter(id.is)
    const below = possible.length === 0 ? [] : await withDescendants(reader)(project_id, possible, seen)
    const ids = [...new Set([...possible, ...below])]
    return async (cause: Cause): Promise<{ deleted: number; position: Position | undefined }> => {
      const executed = await inChunks(ids, AT_ONCE, (id) =>
        changeCall(services, { type: 'DeleteCall', project_id, id })(cause),
      )
      return {
        deleted: executed.filter(({ position }) => position !== undefined).length,
        position: executed.map(({ readableAt }) => readableAt).reduce(later, undefined),
      }
    }
  }
