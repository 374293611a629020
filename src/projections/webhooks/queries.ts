import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { allOf, given, select, sql, timeSql, typed, type Sql } from '../sql.js'
import { instant, position, reading } from '../table.js'

/** `held`: pending or retrying, and its webhook is one of `DeliveryQuery.disabled`. The others are from its own events. */
export type DeliveryPhase =
  'pending' | 'in_flight' | 'retrying' | 'held' | 'succeeded' | 'dead' | 'canceled' | 'suppressed'

export interface StoredDelivery {
  readonly id: string
  readonly team: string
  readonly automation: string
  /** Null if suppressed; so is the event type. */
  readonly webhook: string | null
  readonly event_type: string | null
  readonly source: {
    readonly event_id: string
    readonly type: string
    readonly position: string
    readonly stream: string
  }
  readonly position: Position
  readonly state: DeliveryPhase
  readonly attempts: number
  /** Of the last finished attempt. */
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number | null
  /** Why it is dead, canceled or suppressed. */
  readonly reason: string | null
  readonly scheduled_at: Instant
  readonly finished_at: Instant | null
  readonly next_at: Instant | null
  /** When the log recorded the last change of its state. */
  readonly changed_at: Instant
}

export interface DeliveryQuery {
  readonly team: string
  readonly position: Position
  readonly automation?: string | undefined
  readonly webhook?: string | undefined
  readonly states?: readonly DeliveryPhase[] | undefined
  readonly disabled?: readonly string[] | undefined
  readonly withoutWebhooks?: readonly string[] | undefined
  readonly status?: number | undefined
  readonly reason?: string | undefined
  readonly eventType?: string | undefined
  /** The id of the event that triggered it. */
  readonly sourceEvent?: string | undefined
  /** Triggered by this run, or by this collection of artifacts, in any project. */
  readonly run?: string | undefined
  readonly artifact?: string | undefined
  /** In the id, the error or the reason, in any case; or of one of these webhooks or automations. */
  readonly text?:
    | { readonly text: string; readonly webhooks: readonly string[]; readonly automations: readonly string[] }
    | undefined
  /** Time of scheduling: inclusive, exclusive. */
  readonly from?: Instant | undefined
  readonly to?: Instant | undefined
  /** Scheduled before this position. */
  readonly before?: Position | undefined
}

type Reader = Pick<ClickHouseReader, 'query'>

/** Deliveries as of a position, the last scheduled first. */
export const deliveriesOf =
  (reader: Reader) =>
  async (query: DeliveryQuery, limit: number): Promise<readonly StoredDelivery[]> => {
    const rows = await select<Row>(
      reader,
      sql`SELECT * EXCEPT (own_state, place), toString(place) AS position FROM (${selection(query, limit)})
      ORDER BY place DESC LIMIT ${typed('UInt64', limit)}`,
    )
    return rows.map(deliveryFrom)
  }

export const countDeliveries =
  (reader: Reader) =>
  async (query: DeliveryQuery): Promise<number> => {
    const [row] = await select<{ total: number }>(
      reader,
      sql`SELECT count() AS total FROM (${selection(query)})`,
    )
    return row?.total ?? 0
  }

export const webhooksOf =
  (reader: Reader) =>
  async (query: DeliveryQuery): Promise<readonly string[]> => {
    const rows = await select<{ webhook: string }>(
      reader,
      sql`SELECT DISTINCT webhook FROM (${selection(query)}) WHERE webhook IS NOT NULL`,
    )
    return rows.map(({ webhook }) => webhook)
  }

export interface DeliveryCount {
  readonly state: DeliveryPhase
  readonly webhook: string | null
  readonly automation: string
  readonly deliveries: number
}

/** The number of deliveries for each state, webhook and automation. */
export const deliveryCounts =
  (reader: Reader) =>
  (query: DeliveryQuery): Promise<readonly DeliveryCount[]> =>
    select<DeliveryCount>(
      reader,
      sql`SELECT state, webhook, automation, toUInt32(count()) AS deliveries FROM (${selection(query)})
      GROUP BY state, webhook, automation`,
    )

/** Without conditions on the state, the limit applies before states are computed. */
const selection = (query: DeliveryQuery, limit?: number): Sql => {
  const { team, disabled = [] } = query
  const inState = stateConditions(query)
  const first =
    inState.length === 0 && limit !== undefined
      ? sql`ORDER BY deliveries.position DESC LIMIT ${typed('UInt64', limit)}`
      : sql``
  const scheduled = sql`FROM deliveries FINAL WHERE ${scheduledConditions(query)} ${first}`
  return sql`
    SELECT d.delivery_id AS id, d.team AS team, d.automation_id AS automation, d.webhook_id AS webhook,
      d.event_type AS event_type, d.source_id AS source_id, d.source_type AS source_type,
      d.source_position AS source_position, d.source_stream AS source_stream, d.position AS place, d.suppressed AS suppressed,
      d.scheduled_at AS scheduled_at,
      multiIf(d.suppressed IS NOT NULL, 'suppressed', c.delivery_id = '', 'pending', c.last.1) AS own_state,
      if(own_state IN ('pending', 'retrying') AND has(${disabled}, ifNull(webhook, '')), 'held', own_state) AS state,
      c.tries AS attempts, c.ended.1 AS status, c.ended.2 AS error, c.ended.3 AS duration_ms, c.last.2 AS reason,
      if(c.last.1 IN ('succeeded', 'dead', 'canceled'), c.last.4, NULL) AS finished_at,
      if(state = 'pending', ifNull(c.last.3, d.scheduled_at), c.last.3) AS next_at,
      ifNull(c.last.4, d.scheduled_at) AS changed_at
    FROM (SELECT * ${scheduled}) AS d
    LEFT JOIN (
      SELECT delivery_id, max(attempt) AS tries,
        argMax(tuple(toString(state), reason, next_at, at), position) AS last,
        argMaxIf(tuple(status, error, duration_ms), position, type = 'AttemptFinished') AS ended
      FROM delivery_changes
      WHERE team = ${team} AND position <= ${query.position} AND delivery_id IN (SELECT delivery_id ${scheduled})
      GROUP BY delivery_id
    ) AS c ON c.delivery_id = d.delivery_id
    WHERE ${allOf(inState)}`
}

const scheduledConditions = (query: DeliveryQuery): Sql =>
  allOf([
    sql`team = ${query.team} AND position <= ${query.position}`,
    ...given(query.automation, (id) => sql`automation_id = ${id}`),
    ...given(query.webhook, (id) => sql`webhook_id = ${id}`),
    ...given(query.withoutWebhooks, (ids) => sql`ifNull(webhook_id, '') NOT IN ${ids}`),
    ...given(query.eventType, (type) => sql`event_type = ${type}`),
    ...given(query.sourceEvent, (id) => sql`source_id = ${id}`),
    ...given(
      query.run,
      (id) => sql`match(source_stream, '^run-[^/]+/[^/]+/') AND endsWith(source_stream, ${`/${id}`})`,
    ),
    ...given(
      query.artifact,
      (name) =>
        sql`match(source_stream, '^(artifact|registered)-') AND endsWith(source_stream, ${`/${name}`})`,
    ),
    ...given(query.from, (from) => sql`scheduled_at >= ${timeSql(from)}`),
    ...given(query.to, (to) => sql`scheduled_at < ${timeSql(to)}`),
    ...given(query.before, (before) => sql`position < ${before}`),
  ])

const stateConditions = ({ states, status, reason, text }: DeliveryQuery): readonly Sql[] => [
  ...given(states, (some) => sql`state IN ${some}`),
  ...given(status, (code) => sql`status = ${typed('Int64', code)}`),
  ...given(reason, (why) => sql`ifNull(suppressed, reason) = ${why}`),
  ...given(
    text,
    ({ text: part, webhooks, automations }) =>
      sql`(positionCaseInsensitiveUTF8(id, ${part}) > 0 OR positionCaseInsensitiveUTF8(ifNull(error, ''), ${part}) > 0
      OR positionCaseInsensitiveUTF8(ifNull(reason, ''), ${part}) > 0
      OR automation IN ${automations} OR ifNull(webhook, '') IN ${webhooks})`,
  ),
]

type Row = Omit<StoredDelivery, 'source'> & {
  readonly source_id: string
  readonly source_type: string
  readonly source_position: string
  readonly source_stream: string
  readonly suppressed: string | null
}

const asDelivery = reading({
  position,
  scheduled_at: instant,
  finished_at: instant,
  next_at: instant,
  changed_at: instant,
})

const deliveryFrom = (row: Row): StoredDelivery => {
  const { source_id, source_type, source_position, source_stream, suppressed, ...delivery } = asDelivery(row)
  const source = { event_id: source_id, type: source_type, position: source_position, stream: source_stream }
  return { ...delivery, source, reason: suppressed ?? delivery.reason }
}
