import type { Instant } from '../../domain/codec/instant.js'
import type { ClickHouseReader, SqlParameter } from '../../domain/ports/clickhouse.js'
import type { Position } from '../../domain/ports/event-store.js'
import { dateTime64, instantFrom } from '../clickhouse-values.js'

/** States of deliveries as their events tell them; whether one is held, its webhook tells. */
export type StoredState =
  'pending' | 'in_flight' | 'retrying' | 'succeeded' | 'dead' | 'canceled' | 'suppressed'

export interface StoredDelivery {
  readonly id: string
  readonly team: string
  readonly automation: string
  /** Null where it was suppressed, as is the type of event. */
  readonly webhook: string | null
  readonly event_type: string | null
  readonly source: { readonly event_id: string; readonly type: string; readonly position: string }
  readonly position: Position
  readonly state: StoredState
  readonly attempts: number
  /** Of the last attempt that was finished. */
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number | null
  /** Why it is dead, canceled or suppressed. */
  readonly reason: string | null
  readonly scheduled_at: Instant
  /** When it was seen to be over. */
  readonly finished_at: Instant | null
  readonly next_at: Instant | null
}

export interface DeliveryQuestion {
  readonly team: string
  readonly position: Position
  readonly automation?: string | undefined
  readonly webhook?: string | undefined
  readonly states?: readonly StoredState[] | undefined
  /** Of these webhooks alone, or of all but these. */
  readonly webhooks?: { readonly only: boolean; readonly ids: readonly string[] } | undefined
  readonly status?: number | undefined
  /** Why they are dead or canceled. */
  readonly reason?: string | undefined
  /** When they were scheduled: from the first on, before the second. */
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
  /** What was scheduled before this position. */
  readonly before?: Position | undefined
}

/** The deliveries that a question is about, as they stood at its position; those scheduled last come first. */
export const deliveriesOf =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (question: DeliveryQuestion, limit: number): Promise<readonly StoredDelivery[]> => {
    const { sql, parameters } = selection(question, limit)
    const rows = await reader.query<Row>(
      `SELECT ${COLUMNS} FROM (${sql}) ORDER BY placed DESC LIMIT {limit:UInt64}`,
      { ...parameters, limit },
    )
    return rows.map(deliveryFrom)
  }

/** How many deliveries a question is about. */
export const countDeliveries =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (question: DeliveryQuestion): Promise<number> => {
    const { sql, parameters } = selection(question)
    const [row] = await reader.query<{ total: number }>(`SELECT count() AS total FROM (${sql})`, parameters)
    return row?.total ?? 0
  }

/** The webhooks of the deliveries that a question is about. */
export const webhooksOf =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (question: DeliveryQuestion): Promise<readonly string[]> => {
    const { sql, parameters } = selection(question)
    const rows = await reader.query<{ webhook: string }>(
      `SELECT DISTINCT webhook FROM (${sql}) WHERE webhook IS NOT NULL`,
      parameters,
    )
    return rows.map(({ webhook }) => webhook)
  }

const COLUMNS = `id, owner, automation, webhook, event_type, source_id, source_type, source_position,
  toString(placed) AS place, suppressed, scheduled, stood, attempts, status, error, duration_ms, reason, finished, next_at`

const OVER = `('succeeded', 'dead', 'canceled')`

/** Where nothing is asked of how they stand, only the first few have to be looked up. */
const selection = (question: DeliveryQuestion, limit?: number) => {
  const { conditions, parameters } = scheduledIn(question)
  const standing = standingIn(question, parameters)
  const first = standing.length === 0 && limit !== undefined
  const picked = `SELECT delivery_id FROM deliveries FINAL WHERE ${conditions}
    ${first ? 'ORDER BY deliveries.position DESC LIMIT {limit:UInt64}' : ''}`
  const sql = `
    SELECT d.delivery_id AS id, d.team AS owner, d.automation_id AS automation, d.webhook_id AS webhook,
      d.event_type AS event_type, d.source_id AS source_id, d.source_type AS source_type,
      d.source_position AS source_position, d.position AS placed, d.suppressed AS suppressed,
      d.scheduled_at AS scheduled,
      multiIf(d.suppressed IS NOT NULL, 'suppressed', c.delivery_id = '', 'pending', c.last.1) AS stood,
      c.tries AS attempts, c.ended.1 AS status, c.ended.2 AS error, c.ended.3 AS duration_ms,
      c.last.2 AS reason, if(c.last.1 IN ${OVER}, c.last.4, NULL) AS finished, c.last.3 AS next_at
    FROM (SELECT * FROM deliveries FINAL WHERE ${conditions}
      ${first ? 'ORDER BY deliveries.position DESC LIMIT {limit:UInt64}' : ''}) AS d
    LEFT JOIN (
      SELECT delivery_id, max(attempt) AS tries,
        argMax(tuple(toString(state), reason, next_at, at), position) AS last,
        argMaxIf(tuple(status, error, duration_ms), position, type = 'AttemptFinished') AS ended
      FROM delivery_changes
      WHERE team = {team:String} AND position <= {position:UInt64} AND delivery_id IN (${picked})
      GROUP BY delivery_id
    ) AS c ON c.delivery_id = d.delivery_id
    ${standing.length === 0 ? '' : `WHERE ${standing.join(' AND ')}`}`
  return { sql, parameters }
}

type Parameters = Record<string, SqlParameter>

const scheduledIn = ({
  team,
  position,
  automation,
  webhook,
  webhooks,
  from,
  to,
  before,
}: DeliveryQuestion) => {
  const conditions = ['team = {team:String}', 'position <= {position:UInt64}']
  const parameters: Parameters = { team, position }
  const and = (sql: string, name: string, value: SqlParameter | undefined) => {
    if (value === undefined) return
    conditions.push(sql)
    parameters[name] = value
  }
  and('automation_id = {automation:String}', 'automation', automation)
  and('webhook_id = {webhook:String}', 'webhook', webhook)
  and(
    `ifNull(webhook_id, '') ${webhooks?.only === true ? 'IN' : 'NOT IN'} {webhooks:Array(String)}`,
    'webhooks',
    webhooks?.ids,
  )
  and("scheduled_at >= {from:DateTime64(6, 'UTC')}", 'from', from && dateTime64(from))
  and("scheduled_at < {to:DateTime64(6, 'UTC')}", 'to', to && dateTime64(to))
  and('position < {before:UInt64}', 'before', before)
  return { conditions: conditions.join(' AND '), parameters }
}

const standingIn = (
  { states, status, reason }: DeliveryQuestion,
  parameters: Parameters,
): readonly string[] => {
  const standing: string[] = []
  if (states !== undefined) {
    standing.push('stood IN {states:Array(String)}')
    parameters['states'] = states
  }
  if (status !== undefined) {
    standing.push('status = {status:Int64}')
    parameters['status'] = status
  }
  if (reason !== undefined) {
    standing.push('reason = {reason:String}')
    parameters['reason'] = reason
  }
  return standing
}

interface Row {
  readonly id: string
  readonly owner: string
  readonly automation: string
  readonly webhook: string | null
  readonly event_type: string | null
  readonly source_id: string
  readonly source_type: string
  readonly source_position: string
  readonly place: string
  readonly suppressed: string | null
  readonly scheduled: string
  readonly stood: StoredState
  readonly attempts: number
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number | null
  readonly reason: string | null
  readonly finished: string | null
  readonly next_at: string | null
}

const instantOrNull = (text: string | null): Instant | null => (text === null ? null : instantFrom(text))

const deliveryFrom = (row: Row): StoredDelivery => ({
  id: row.id,
  team: row.owner,
  automation: row.automation,
  webhook: row.webhook,
  event_type: row.event_type,
  source: { event_id: row.source_id, type: row.source_type, position: row.source_position },
  position: BigInt(row.place),
  state: row.stood,
  attempts: row.attempts,
  status: row.status,
  error: row.error,
  duration_ms: row.duration_ms,
  reason: row.suppressed ?? row.reason,
  scheduled_at: instantFrom(row.scheduled),
  finished_at: instantOrNull(row.finished),
  next_at:
    row.stood === 'pending' && row.next_at === null ? instantFrom(row.scheduled) : instantOrNull(row.next_at),
})
