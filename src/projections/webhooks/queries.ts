import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader, SqlParameter } from '../../kernel/ports/clickhouse.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { dateTime64, instantFrom, SQL_TIME } from '../clickhouse-values.js'

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
  readonly source: { readonly event_id: string; readonly type: string; readonly position: string }
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

/** Deliveries as of a position, the last scheduled first. */
export const deliveriesOf =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (query: DeliveryQuery, limit: number): Promise<readonly StoredDelivery[]> => {
    const { sql, parameters } = selection(query, limit)
    const rows = await reader.query<Row>(
      `SELECT ${COLUMNS} FROM (${sql}) ORDER BY placed DESC LIMIT {limit:UInt64}`,
      { ...parameters, limit },
    )
    return rows.map(deliveryFrom)
  }

export const countDeliveries =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (query: DeliveryQuery): Promise<number> => {
    const { sql, parameters } = selection(query)
    const [row] = await reader.query<{ total: number }>(`SELECT count() AS total FROM (${sql})`, parameters)
    return row?.total ?? 0
  }

export const webhooksOf =
  (reader: Pick<ClickHouseReader, 'query'>) =>
  async (query: DeliveryQuery): Promise<readonly string[]> => {
    const { sql, parameters } = selection(query)
    const rows = await reader.query<{ webhook: string }>(
      `SELECT DISTINCT webhook FROM (${sql}) WHERE webhook IS NOT NULL`,
      parameters,
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
  (reader: Pick<ClickHouseReader, 'query'>) =>
  (query: DeliveryQuery): Promise<readonly DeliveryCount[]> => {
    const { sql, parameters } = selection(query)
    return reader.query<DeliveryCount & Record<string, unknown>>(
      `SELECT state_now AS state, webhook, automation, toUInt32(count()) AS deliveries FROM (${sql})
       GROUP BY state_now, webhook, automation`,
      parameters,
    )
  }

const COLUMNS = `id, owner, automation, webhook, event_type, source_id, source_type, source_position,
  toString(placed) AS place, suppressed, scheduled, state_now, attempts, status, error, duration_ms, reason, finished, next_at, changed`

const OVER = `('succeeded', 'dead', 'canceled')`

/** Without conditions on the state, the limit applies before states are computed. */
const selection = (query: DeliveryQuery, limit?: number) => {
  const { conditions, parameters } = scheduledConditions(query)
  const conditionsOnState = stateConditions(query, parameters)
  const first = conditionsOnState.length === 0 && limit !== undefined
  const picked = `SELECT delivery_id FROM deliveries FINAL WHERE ${conditions}
    ${first ? 'ORDER BY deliveries.position DESC LIMIT {limit:UInt64}' : ''}`
  const sql = `
    SELECT d.delivery_id AS id, d.team AS owner, d.automation_id AS automation, d.webhook_id AS webhook,
      d.event_type AS event_type, d.source_id AS source_id, d.source_type AS source_type,
      d.source_position AS source_position, d.position AS placed, d.suppressed AS suppressed,
      d.scheduled_at AS scheduled,
      multiIf(d.suppressed IS NOT NULL, 'suppressed', c.delivery_id = '', 'pending', c.last.1) AS own_state,
      if(own_state IN ('pending', 'retrying') AND has({disabled:Array(String)}, ifNull(webhook, '')), 'held', own_state) AS state_now,
      c.tries AS attempts, c.ended.1 AS status, c.ended.2 AS error, c.ended.3 AS duration_ms,
      c.last.2 AS reason, if(c.last.1 IN ${OVER}, c.last.4, NULL) AS finished, c.last.3 AS next_at, c.last.4 AS changed
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
    ${conditionsOnState.length === 0 ? '' : `WHERE ${conditionsOnState.join(' AND ')}`}`
  return { sql, parameters }
}

type Parameters = Record<string, SqlParameter>

const scheduledConditions = ({
  team,
  position,
  automation,
  webhook,
  withoutWebhooks,
  eventType,
  sourceEvent,
  run,
  artifact,
  disabled = [],
  from,
  to,
  before,
}: DeliveryQuery) => {
  const conditions = ['team = {team:String}', 'position <= {position:UInt64}']
  const parameters: Parameters = { team, position, disabled }
  const and = (sql: string, name: string, value: SqlParameter | undefined) => {
    if (value === undefined) return
    conditions.push(sql)
    parameters[name] = value
  }
  and('automation_id = {automation:String}', 'automation', automation)
  and('webhook_id = {webhook:String}', 'webhook', webhook)
  and(`ifNull(webhook_id, '') NOT IN {without:Array(String)}`, 'without', withoutWebhooks)
  and('event_type = {eventType:String}', 'eventType', eventType)
  and('source_id = {sourceEvent:String}', 'sourceEvent', sourceEvent)
  and(
    `match(source_stream, '^run-[^/]+/[^/]+/') AND endsWith(source_stream, {run:String})`,
    'run',
    run && `/${run}`,
  )
  and(
    `match(source_stream, '^(artifact|registered)-') AND endsWith(source_stream, {artifact:String})`,
    'artifact',
    artifact && `/${artifact}`,
  )
  and(`scheduled_at >= {from:${SQL_TIME}}`, 'from', from && dateTime64(from))
  and(`scheduled_at < {to:${SQL_TIME}}`, 'to', to && dateTime64(to))
  and('position < {before:UInt64}', 'before', before)
  return { conditions: conditions.join(' AND '), parameters }
}

const stateConditions = (
  { states, status, reason, text }: DeliveryQuery,
  parameters: Parameters,
): readonly string[] => {
  const conditionsOnState: string[] = []
  if (states !== undefined) {
    conditionsOnState.push('state_now IN {states:Array(String)}')
    parameters['states'] = states
  }
  if (status !== undefined) {
    conditionsOnState.push('status = {status:Int64}')
    parameters['status'] = status
  }
  if (reason !== undefined) {
    conditionsOnState.push('ifNull(suppressed, reason) = {reason:String}')
    parameters['reason'] = reason
  }
  if (text !== undefined) {
    const contains = ['id', "ifNull(error, '')", "ifNull(reason, '')"].map(
      (column) => `positionCaseInsensitiveUTF8(${column}, {text:String}) > 0`,
    )
    const named =
      "automation IN {textAutomations:Array(String)} OR ifNull(webhook, '') IN {textWebhooks:Array(String)}"
    conditionsOnState.push(`(${[...contains, named].join(' OR ')})`)
    Object.assign(parameters, {
      text: text.text,
      textAutomations: text.automations,
      textWebhooks: text.webhooks,
    })
  }
  return conditionsOnState
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
  readonly state_now: DeliveryPhase
  readonly attempts: number
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number | null
  readonly reason: string | null
  readonly finished: string | null
  readonly next_at: string | null
  readonly changed: string | null
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
  state: row.state_now,
  attempts: row.attempts,
  status: row.status,
  error: row.error,
  duration_ms: row.duration_ms,
  reason: row.suppressed ?? row.reason,
  scheduled_at: instantFrom(row.scheduled),
  finished_at: instantOrNull(row.finished),
  next_at:
    row.state_now === 'pending' && row.next_at === null
      ? instantFrom(row.scheduled)
      : instantOrNull(row.next_at),
  changed_at: instantFrom(row.changed ?? row.scheduled),
})
