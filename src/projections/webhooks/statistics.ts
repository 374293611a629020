import type { Instant } from '../../kernel/codec/instant.js'
import type { ClickHouseReader } from '../../kernel/ports/clickhouse.js'
import { dateTime64, instantFrom, SQL_TIME } from '../clickhouse-values.js'
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
const attempts = (column: string, condition: string): string => `
  SELECT d.of AS of, c.position AS position, c.delivery_id AS delivery_id, c.state AS state, c.at AS at, c.duration_ms AS duration_ms
  FROM (SELECT * FROM delivery_changes WHERE team = {team:String} AND type = 'AttemptFinished' AND ${condition}) AS c
  INNER JOIN (
    SELECT DISTINCT delivery_id, ${column} AS of FROM deliveries WHERE team = {team:String} AND delivery_id IN (
      SELECT delivery_id FROM delivery_changes WHERE team = {team:String} AND type = 'AttemptFinished' AND ${condition})
  ) AS d ON d.delivery_id = c.delivery_id`

const SINCE = `at >= {since:${SQL_TIME}}`

/** By webhook, for webhooks of the team with deliveries. */
export const webhookStatistics =
  (reader: Reader) =>
  async (team: string, since: Instant): Promise<ReadonlyMap<string, WebhookStatistics>> => {
    const last = `SELECT assumeNotNull(webhook_id) AS webhook, argMax(delivery_id, position) AS id,
        argMax(scheduled_at, position) AS at
      FROM deliveries WHERE team = {team:String} AND webhook_id IS NOT NULL GROUP BY webhook`
    const rows = await reader.query<{
      webhook: string
      id: string
      at: string
      state: DeliveryPhase
      attempts: number
      succeeded: number
    }>(
      `SELECT w.webhook AS webhook, w.id AS id, w.at AS at, if(c.delivery_id = '', 'pending', c.state) AS state,
         toUInt32(a.attempts) AS attempts, toUInt32(a.succeeded) AS succeeded
       FROM (${last}) AS w
       LEFT JOIN (
         SELECT delivery_id, argMax(toString(state), position) AS state FROM delivery_changes
         WHERE team = {team:String} AND delivery_id IN (SELECT id FROM (${last})) GROUP BY delivery_id
       ) AS c ON c.delivery_id = w.id
       LEFT JOIN (
         SELECT of, uniqExact(position) AS attempts, uniqExactIf(position, state = 'succeeded') AS succeeded
         FROM (${attempts('webhook_id', SINCE)}) GROUP BY of
       ) AS a ON a.of = w.webhook`,
      { team, since: dateTime64(since) },
    )
    return new Map(
      rows.map(({ webhook, id, at, state, attempts, succeeded }) => [
        webhook,
        { lastDelivery: { id, at: instantFrom(at), state }, attempts, succeeded },
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
    const rows = await reader.query<{ automation: string; last: string; fired: number; failed: number }>(
      `SELECT f.automation AS automation, f.last AS last, toUInt32(f.fired) AS fired, toUInt32(a.failed) AS failed
       FROM (
         SELECT automation_id AS automation, max(scheduled_at) AS last,
           uniqExactIf(position, scheduled_at >= {since:${SQL_TIME}} AND suppressed IS NULL) AS fired
         FROM deliveries WHERE team = {team:String} GROUP BY automation
       ) AS f
       LEFT JOIN (
         SELECT of, uniqExactIf(delivery_id, state = 'dead') AS failed
         FROM (${attempts('automation_id', SINCE)}) GROUP BY of
       ) AS a ON a.of = f.automation`,
      { team, since: dateTime64(since) },
    )
    return new Map(
      rows.map(({ automation, last, fired, failed }) => [
        automation,
        { lastFiredAt: instantFrom(last), fired, failed },
      ]),
    )
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
    const rows = await reader.query<Omit<HourOfWebhook, 'hour'> & { hour: string }>(
      `SELECT toDateTime64(toStartOfHour(at), 6, 'UTC') AS hour, toUInt32(count()) AS attempts,
         toUInt32(countIf(state = 'succeeded')) AS succeeded,
         quantileExactInclusiveOrNull(0.5)(duration_ms) AS p50_ms,
         quantileExactInclusiveOrNull(0.95)(duration_ms) AS p95_ms
       FROM (
         SELECT DISTINCT position, at, state, duration_ms
         FROM (${attempts('webhook_id', `at >= {from:${SQL_TIME}} AND at < {to:${SQL_TIME}}`)}) WHERE of = {webhook:String}
       )
       GROUP BY hour ORDER BY hour`,
      { team, webhook, from: dateTime64(from), to: dateTime64(to) },
    )
    return rows.map(({ hour, ...figures }) => ({ hour: instantFrom(hour), ...figures }))
  }
