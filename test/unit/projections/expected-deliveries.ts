import type { DeliveryEvent } from '../../../src/domain/delivery/events.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'

type Row = Readonly<Record<string, unknown>>
type Positioned = DeliveryEvent & Pick<ProjectedEvent, 'position'>

/** What the tables hold of one team, in the order of the events. */
export const readDeliveries = async (clickHouse: ClickHouse, team: string): Promise<readonly Row[]> => {
  const rows = (table: string) =>
    clickHouse.writer.query<Row & { position: number }>(
      `SELECT * EXCEPT (team) FROM ${table} FINAL WHERE team = {team:String}`,
      { team },
    )
  const all = [...(await rows('deliveries')), ...(await rows('delivery_changes'))]
  return all.sort((one, other) => one.position - other.position)
}

const time = (instant: string | null) => instant && instant.replace('T', ' ').replace('Z', '')

export const expectedDeliveries = (events: readonly ProjectedEvent[]): readonly Row[] =>
  (events as readonly Positioned[]).flatMap((event): readonly Row[] => {
    const { type, data } = event
    const position = Number(event.position)
    const change = { position, type, attempt: 0, at: null }
    const silent = { status: null, error: null, reason: null, next_at: null, duration_ms: null }
    switch (type) {
      case 'DeliveryScheduled':
      case 'DeliverySuppressed': {
        const { delivery_id, automation_id, source, depth } = data
        const sent = type === 'DeliveryScheduled' ? data : undefined
        return [
          {
            ...{ position, delivery_id, automation_id, depth },
            automation_revision: sent?.automation_revision ?? null,
            webhook_id: sent?.webhook_id ?? null,
            event_type: sent?.event_type ?? null,
            source_id: source.event_id,
            source_type: source.type,
            source_position: source.position,
            scheduled_at: time(sent?.scheduled_at ?? source.recorded_at),
            suppressed: type === 'DeliverySuppressed' ? data.reason : null,
          },
        ]
      }
      case 'AttemptStarted': {
        const { delivery_id, attempt } = data
        return [{ ...change, ...silent, delivery_id, attempt, state: 'in_flight' }]
      }
      case 'AttemptFinished': {
        const { delivery_id, attempt, outcome, status, error, reason, next_at, phases } = data
        const state = outcome === 'retry' ? 'retrying' : outcome
        const duration_ms = phases['total'] ?? null
        return [
          {
            ...change,
            delivery_id,
            attempt,
            state,
            status,
            error,
            reason,
            next_at: time(next_at),
            duration_ms,
          },
        ]
      }
      case 'AttemptOutcomeUnknown': {
        const { delivery_id, attempt, next_at } = data
        return [{ ...change, ...silent, delivery_id, attempt, state: 'retrying', next_at: time(next_at) }]
      }
      case 'DeliveryCanceled': {
        const { delivery_id, reason } = data
        return [{ ...change, ...silent, delivery_id, reason, state: 'canceled' }]
      }
      case 'DeliveryResent': {
        const { delivery_id, due_at } = data
        return [{ ...change, ...silent, delivery_id, next_at: time(due_at), state: 'pending' }]
      }
      default:
        return []
    }
  })
