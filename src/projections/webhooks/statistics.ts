import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { raw, select, sql, timeSql, type Sql } from '../sql.js'
import { instant, reading } from '../table.js'
import type { DeliveryPhase } from './queries.js'

type Reader = Pick<ClickHouseReader, 'query'>

export interface WebhookStatistics {
  readonly lastDelivery: { readonly id: string; readonly at: Instant; readonly state: DeliveryPhase }
  /** Finished since the given time. */
  readonly attempts: number
  readonly succeeded: number
}

// Rows may be inserted twice, so each is counted by its position.

/** A finished attempt and the webhook or automation of its delivery. */
const attempts = (team: string, column: 'webhook_id' | 'automation_id', ended: Sql): Sql => {
  const finished = sql`FROM delivery_changes WHERE team = ${team} AND type = 'AttemptFinished' AND ${ended}`
  return sql`
  SELECT d.of AS of, c.position AS position, c.delivery_id AS delivery_id, c.state AS state, c.at AS at, c.duration_ms AS duration_ms
  FROM (SELECT * ${finished}) AS c
  INNER JOIN (
    SELECT DISTINCT delivery_id, ${raw(column)} AS of FROM deliveries
    WHERE team = ${team} AND delivery_id IN (SELECT delivery_id ${finished})
  ) AS d ON d.delivery_id = c.delivery_id`
}

const asRow = reading({ at: instant, lastFiredAt: instant, hour: instant })

/** By webhook, for webhooks of the team with deliveries. */
export const webhookStatistics =
  (reader: Reader) =>
  async (team: string, since: Instant): Promise<ReadonlyMap<string, WebhookStatistics>> => {
    const last = sql`SELECT assumeNotNull(webhook_id) AS webhook, argMax(delivery_id, position) AS id,
        argMax(scheduled_at, position) AS at
      FROM deliveries WHERE team = ${team} AND webhook_id IS NOT NULL GROUP BY webhook`
    const rows = await select<
      WebhookStatistics['lastDelivery'] & {
        readonly webhook: string
        readonly attempts: number
        readonly succeeded: number
      }
    >(
      reader,
      sql`SELECT w.webhook AS webhook, w.id AS id, w.at AS at, if(c.delivery_id = '', 'pending', c.state) AS state,
         toUInt32(a.attempts) AS attempts, toUInt32(a.succeeded) AS succeeded
       FROM (${last}) AS w
       LEFT JOIN (
         SELECT delivery_id, argMax(toString(state), position) AS state FROM delivery_changes
         WHERE team = ${team} AND delivery_id IN (SELECT id FROM (${last})) GROUP BY delivery_id
       ) AS c ON c.delivery_id = w.id
       LEFT JOIN (
         SELECT of, uniqExact(position) AS attempts, uniqExactIf(position, state = 'succeeded') AS succeeded
         FROM (${attempts(team, 'webhook_id', sql`at >= ${timeSql(since)}`)}) GROUP BY of
       ) AS a ON a.of = w.webhook`,
    )
    return new Map(
      rows
        .map(asRow)
        .map(({ webhook, id, at, state, ...figures }) => [
          webhook,
          { lastDelivery: { id, at, state }, ...figures },
        ]),
    )
  }

export interface AutomationStatistics {
  readonly lastFiredAt: Instant
  /** Deliveries scheduled, and given up, since the given time. */
  readonly fired: number
  readonly failed: number
}

/** By automation, for automations of the team that have fired. */
export const automationStatistics =
  (reader: Reader) =>
  async (team: string, since: Instant): Promise<ReadonlyMap<string, AutomationStatistics>> => {
    const rows = await select<AutomationStatistics & { readonly automation: string }>(
      reader,
      sql`SELECT f.automation AS automation, f.last AS lastFiredAt, toUInt32(f.fired) AS fired, toUInt32(a.failed) AS failed
       FROM (
         SELECT automation_id AS automation, max(scheduled_at) AS last,
           uniqExactIf(position, scheduled_at >= ${timeSql(since)} AND suppressed IS NULL) AS fired
         FROM deliveries WHERE team = ${team} GROUP BY automation
       ) AS f
       LEFT JOIN (
         SELECT of, uniqExactIf(delivery_id, state = 'dead') AS failed
         FROM (${attempts(team, 'automation_id', sql`at >= ${timeSql(since)}`)}) GROUP BY of
       ) AS a ON a.of = f.automation`,
    )
    return new Map(rows.map(asRow).map(({ automation, ...figures }) => [automation, figures]))
  }

export interface HourOfWebhook {
  readonly hour: Instant
  readonly attempts: number
  readonly succeeded: number
  /** Durations of attempts in milliseconds. */
  readonly p50_ms: number | null
  readonly p95_ms: number | null
}

/** The attempts of a webhook by the hour in which they ended; hours without attempts are left out. */
export const hoursOfWebhook =
  (reader: Reader) =>
  async (team: string, webhook: string, from: Instant, to: Instant): Promise<readonly HourOfWebhook[]> => {
    const ended = sql`at >= ${timeSql(from)} AND at < ${timeSql(to)}`
    const rows = await select<HourOfWebhook>(
      reader,
      sql`SELECT toDateTime64(toStartOfHour(at), 6, 'UTC') AS hour, toUInt32(count()) AS attempts,
         toUInt32(countIf(state = 'succeeded')) AS succeeded,
         quantileExactInclusiveOrNull(0.5)(duration_ms) AS p50_ms,
         quantileExactInclusiveOrNull(0.95)(duration_ms) AS p95_ms
       FROM (
         SELECT DISTINCT position, at, state, duration_ms
         FROM (${attempts(team, 'webhook_id', ended)}) WHERE of = ${webhook}
       )
       GROUP BY hour ORDER BY hour`,
    )
    return rows.map(asRow)
  }
