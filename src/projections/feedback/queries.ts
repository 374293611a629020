import type { ClickHouseReader, SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import type { Operation } from '../../domain/query/expression.js'
import { compileCondition } from '../expression/compile.js'
import { orderTerms, type OrderBy } from '../expression/order.js'
import { newParameters } from '../expression/parameters.js'
import { JSON_SETTINGS } from '../expression/readable-json.js'
import {
  FEEDBACK_FIELDS,
  SELECTED,
  storedFeedback,
  withReadable,
  type StoredFeedback,
} from './stored-feedback.js'

export type { OrderBy } from '../expression/order.js'
export type { StoredFeedback } from './stored-feedback.js'
export { fieldPicker } from './pick.js'

interface Asked {
  readonly projectId: string
  readonly operation: Operation | null
  readonly position: Position
}

export interface FeedbackQuestion extends Asked {
  readonly order: readonly OrderBy[]
  readonly limit: number | null
  readonly offset: number | null
}

export interface FeedbackId {
  readonly id: string
  /** The size of its payload, so that pages can be cut before they are read. */
  readonly bytes: number
}

/**
 * The ids of the feedback that a query selects, in order.
 *
 * @throws UnknownField
 */
export const feedbackIds =
  (reader: ClickHouseReader) =>
  async ({ order: by, limit, offset, ...asked }: FeedbackQuestion): Promise<readonly FeedbackId[]> => {
    const { sql, parameters } = condition(asked)
    const ordering = newParameters('o')
    const order = [...orderTerms(by, FEEDBACK_FIELDS, ordering), 'id ASC'].join(', ')
    const range = limit === null ? '' : 'LIMIT {limit:UInt64}'
    return reader.query<FeedbackId>(
      `${withReadable(`${sql} ${order}`)} SELECT id, ifNull(bytes, 0) AS bytes FROM feedback FINAL WHERE ${sql}
      ORDER BY ${order} ${range} OFFSET {offset:UInt64} SETTINGS ${JSON_SETTINGS}`,
      {
        ...parameters,
        ...ordering.all(),
        ...(limit === null ? {} : { limit }),
        offset: offset ?? 0,
      },
    )
  }

/** How many pieces of feedback a query selects. */
export const countFeedback =
  (reader: ClickHouseReader) =>
  async (asked: Asked): Promise<number> => {
    const { sql, parameters } = condition(asked)
    const [row] = await reader.query<{ total: number }>(
      `${withReadable(sql)} SELECT count() AS total FROM feedback FINAL WHERE ${sql} SETTINGS ${JSON_SETTINGS}`,
      parameters,
    )
    return row?.total ?? 0
  }

/** The given feedback as it stood at a position, in the order of the ids; what is not there is left out. */
export const feedbackById =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    ids: readonly string[],
    position: Position,
  ): Promise<readonly StoredFeedback[]> => {
    const rows = await reader.query<Record<string, string | null>>(
      `SELECT ${SELECTED} FROM feedback FINAL WHERE ${THERE} AND id IN {ids:Array(String)}`,
      { project: projectId, position, ids },
    )
    const found = new Map(rows.map((row) => [row['field_id'], storedFeedback(row)]))
    return ids.flatMap((id) => found.get(id) ?? [])
  }

/** The bytes of payload of all feedback on each of the references that have any. */
export const feedbackBytes =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    refs: readonly string[],
    position: Position,
  ): Promise<ReadonlyMap<string, number>> => {
    const rows = await reader.query<{ ref: string; total: number }>(
      `SELECT weave_ref AS ref, sum(ifNull(bytes, 0)) AS total FROM feedback FINAL
      WHERE ${THERE} AND weave_ref IN {refs:Array(String)} GROUP BY ref`,
      { project: projectId, position, refs },
    )
    return new Map(rows.map(({ ref, total }) => [ref, total]))
  }

/** All feedback on references, each in the order in which it was given. */
export const feedbackOn =
  (reader: ClickHouseReader) =>
  async (
    projectId: string,
    refs: readonly string[],
    position: Position,
  ): Promise<ReadonlyMap<string, readonly StoredFeedback[]>> => {
    const rows = await reader.query<Record<string, string | null>>(
      `SELECT ${SELECTED} FROM feedback FINAL WHERE ${THERE} AND weave_ref IN {refs:Array(String)}
      ORDER BY created_at, id`,
      { project: projectId, position, refs },
    )
    const byRef = new Map<string, StoredFeedback[]>()
    for (const feedback of rows.map(storedFeedback)) {
      const ref = feedback.weave_ref as string
      const known = byRef.get(ref)
      if (known === undefined) byRef.set(ref, [feedback])
      else known.push(feedback)
    }
    return byRef
  }

/** What a project's feedback is at a position, where both are parameters. */
export const THERE = `project_id = {project:String} AND given_position <= {position:UInt64}
  AND (purged_position IS NULL OR purged_position > {position:UInt64})`

const condition = ({ projectId, operation, position }: Asked) => {
  const there: Readonly<Record<string, SqlParameter>> = { project: projectId, position }
  if (operation === null) return { sql: THERE, parameters: there }
  const { sql, parameters } = compileCondition(operation, FEEDBACK_FIELDS)
  return { sql: `${THERE} AND ${sql}`, parameters: { ...there, ...parameters } }
}
