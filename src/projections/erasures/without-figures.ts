import { callEvents } from '../../domain/calls/call.js'
import type { Position } from '../../kernel/ports/event-store.js'
import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReads } from '../../kernel/ports/clickhouse.js'
import { select, sql } from '../sql.js'
import { projectionOf } from '../projection.js'
import { keyword, position, table, text } from '../table.js'

/** The calls whose figures were erased, by the day of their start: totals say that they are missing. */
export const WITHOUT_FIGURES = table(
  'calls_without_figures',
  { project_id: keyword, day: keyword, id: text, position },
  ['project_id', 'day', 'id'],
)

const { CallStarted } = callEvents

export const withoutFiguresProjection = {
  ...projectionOf('calls without figures', { CallStarted }, (events) => [
    WITHOUT_FIGURES.rows(
      events.map(({ data: { project_id, id, started_at }, position }) => ({
        ...{ project_id, id, position },
        day: started_at.slice(0, 10),
      })),
    ),
  ]),
  ofErased: true,
} as const

interface Period {
  readonly from?: Instant | null
  /** Not part of it. */
  readonly to?: Instant | null
}

/**
 * How many calls are missing in the totals of a project, or of all projects of `team/`, and of a period: those of its first and last
 * day, too.
 */
export const erasedCalls = async (
  reader: Pick<ClickHouseReads, 'query'>,
  scope: string,
  position: Position,
  { from, to }: Period = {},
): Promise<number> => {
  const [row] = await select<{ calls: string }>(
    reader,
    sql`SELECT toString(count()) AS calls FROM calls_without_figures FINAL
    WHERE ${scope.endsWith('/') ? sql`startsWith(project_id, ${scope})` : sql`project_id = ${scope}`} AND position <= ${position}
      ${from == null ? sql`` : sql`AND day >= ${from.slice(0, 10)}`}
      ${to == null ? sql`` : sql`AND concat(day, 'T00:00:00.000000Z') < ${to}`}`,
  )
  return Number(row?.calls ?? 0)
}
