import { instantOf } from '../../kernel/codec/instant.js'
import { deliveryEvents, type DeliveryScheduled } from '../../domain/webhooks/deliveries/events.js'
import { projectionOf } from '../projection.js'
import type { RowOf } from '../table.js'
import { CHANGES, DELIVERIES } from './tables.js'

const STATES = { succeeded: 'succeeded', retry: 'retrying', dead: 'dead' } as const

const sourceColumns = ({ event_id, type, position, stream }: DeliveryScheduled['source']) => ({
  source_id: event_id,
  source_type: type,
  source_position: position,
  source_stream: stream,
})

export const deliveriesProjection = projectionOf('deliveries', deliveryEvents, (events) => {
  const deliveries: RowOf<typeof DELIVERIES>[] = []
  const changes: RowOf<typeof CHANGES>[] = []
  for (const { type, data, position, recordedAt } of events) {
    const change = { type, position, at: recordedAt && instantOf(recordedAt) }
    switch (type) {
      case 'DeliveryScheduled':
        deliveries.push({ ...data, ...sourceColumns(data.source), position })
        break
      case 'DeliverySuppressed': {
        const { source, reason: suppressed } = data
        deliveries.push({
          ...data,
          ...sourceColumns(source),
          position,
          scheduled_at: source.recorded_at,
          suppressed,
        })
        break
      }
      case 'AttemptStarted':
        changes.push({ ...data, ...change, state: 'in_flight' })
        break
      case 'AttemptFinished':
        changes.push({ ...data, ...change, state: STATES[data.outcome], duration_ms: data.phases['total'] })
        break
      case 'AttemptOutcomeUnknown':
        changes.push({ ...data, ...change, state: 'retrying' })
        break
      case 'DeliveryCanceled':
        changes.push({ ...data, ...change, state: 'canceled', attempt: 0 })
        break
      case 'DeliveryResent':
        changes.push({ ...data, ...change, state: 'pending', attempt: 0, next_at: data.due_at })
    }
  }
  return [DELIVERIES.rows(deliveries), CHANGES.rows(changes)]
})
