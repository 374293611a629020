import { callDecider } from '../../domain/call/decider.js'
import { callStream } from '../../domain/call/events.js'
import type { Cause } from '../../domain/event.js'
import { id } from '../../domain/ids.js'
import type { ClickHouseReader } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { withDescendants } from '../../projections/usage/queries.js'
import { execute } from '../../runtime/execute.js'
import type { RouteRequest } from '../route.js'
import { later, type Tracing } from './tracing.js'

const AT_ONCE = 500

/** Deletes calls with all their descendants, in two steps as a write has them; answers how many those were. */
export const deletingCalls =
  ({ ports, reading, reader }: Tracing & { readonly reader: ClickHouseReader }) =>
  async (projectId: string, callIds: readonly string[], { headers }: Pick<RouteRequest, 'headers'>) => {
    // Ignores `Tallytree-Stale`, which would leave recent descendants undeleted.
    const seen = await reading.waitForNow(projectId, { ...headers, 'tallytree-stale': undefined })
    const possible = callIds.filter(id.is)
    const below = possible.length === 0 ? [] : await withDescendants(reader)(projectId, possible, seen)
    const ids = [...new Set([...possible, ...below])]
    return async (cause: Cause): Promise<{ deleted: number; position: Position | undefined }> => {
      let position: Position | undefined
      let deleted = 0
      for (let from = 0; from < ids.length; from += AT_ONCE) {
        const executed = await Promise.all(
          ids.slice(from, from + AT_ONCE).map((id) => {
            const command = { type: 'DeleteCall', project_id: projectId, id } as const
            return execute(ports)(callDecider, callStream(projectId, id), [command], cause)
          }),
        )
        for (const one of executed) if (one.position !== undefined) deleted += 1
        position = executed.reduce((last, one) => later(last, one.readableAt), position)
      }
      return { deleted, position }
    }
  }
