import { instantOf } from '../../kernel/codec/instant.js'
import type { DeliveryEvent } from '../../domain/webhooks/deliveries/events.js'
import type { Rows } from '../../kernel/ports/clickhouse.js'
import { dateTime64, int64 } from '../clickhouse-values.js'
import type { ProjectedEvent, Projection } from '../projection.js'

export const DELIVERY_COLUMNS = [
  'team',
  'automation_id',
  'position',
  'delivery_id',
  'automation_revision',
  'webhook_id',
  'event_type',
  'source_id',
  'source_type',
  'source_position',
  'source_stream',
  'depth',
  'scheduled_at',
  'suppressed',
] as const

export const CHANGE_COLUMNS = [
  'team',
  'delivery_id',
  'position',
  'type',
  'state',
  'attempt',
  'status',
  'error',
  'reason',
  'next_at',
  'duration_ms',
  'at',
] as const

type Positioned = DeliveryEvent & Pick<ProjectedEvent, 'position' | 'recordedAt'>
type Row<Column extends string> = Readonly<Record<Column, string | number | null>>
type Change = Row<(typeof CHANGE_COLUMNS)[number]>

export const deliveriesProjection: Projection = {
  name: 'deliveries',
  rowsOf: (events) => {
    const positioned = events as readonly Positioned[]
    return [
      ...table('deliveries', DELIVERY_COLUMNS, positioned.flatMap(scheduled)),
      ...table('delivery_changes', CHANGE_COLUMNS, positioned.flatMap(changed)),
    ]
  },
}

const table = <Column extends string>(
  name: string,
  columns: readonly Column[],
  rows: readonly Row<Column>[],
): readonly Rows[] =>
  rows.length === 0
    ? []
    : [{ table: name, columns, values: rows.map((row) => columns.map((column) => row[column])) }]

const scheduled = ({
  type,
  data,
  position,
}: Positioned): readonly Row<(typeof DELIVERY_COLUMNS)[number]>[] => {
  if (type !== 'DeliveryScheduled' && type !== 'DeliverySuppressed') return []
  const { team, automation_id, delivery_id, source, depth } = data
  const sent = type === 'DeliveryScheduled' ? data : undefined
  return [
    {
      team,
      automation_id,
      position: String(position),
      delivery_id,
      automation_revision: sent === undefined ? null : int64(sent.automation_revision),
      webhook_id: sent?.webhook_id ?? null,
      event_type: sent?.event_type ?? null,
      source_id: source.event_id,
      source_type: source.type,
      source_position: source.position,
      source_stream: source.stream,
      depth: int64(depth),
      scheduled_at: dateTime64(sent?.scheduled_at ?? source.recorded_at),
      suppressed: type === 'DeliverySuppressed' ? data.reason : null,
    },
  ]
}

const STATES = { succeeded: 'succeeded', retry: 'retrying', dead: 'dead' } as const

const changed = (event: Positioned): readonly Change[] => {
  const common = {
    position: String(event.position),
    type: event.type,
    attempt: '0',
    status: null,
    error: null,
    reason: null,
    next_at: null,
    duration_ms: null,
    at: event.recordedAt === undefined ? null : dateTime64(instantOf(event.recordedAt)),
  }
  switch (event.type) {
    case 'AttemptStarted': {
      const { team, delivery_id, attempt } = event.data
      return [{ team, delivery_id, state: 'in_flight', ...common, attempt: int64(attempt) }]
    }
    case 'AttemptFinished': {
      const { team, delivery_id, attempt, outcome, status, error, reason, next_at, phases } = event.data
      const duration_ms = phases['total'] ?? null
      const ended = { status: status && int64(status), error, reason, duration_ms }
      const due = { attempt: int64(attempt), next_at: next_at && dateTime64(next_at) }
      return [{ team, delivery_id, state: STATES[outcome], ...common, ...ended, ...due }]
    }
    case 'AttemptOutcomeUnknown': {
      const { team, delivery_id, attempt, next_at } = event.data
      const due = { attempt: int64(attempt), next_at: dateTime64(next_at) }
      return [{ team, delivery_id, state: 'retrying', ...common, ...due }]
    }
    case 'DeliveryCanceled': {
      const { team, delivery_id, reason } = event.data
      return [{ team, delivery_id, state: 'canceled', ...common, reason }]
    }
    case 'DeliveryResent': {
      const { team, delivery_id, due_at } = event.data
      return [{ team, delivery_id, state: 'pending', ...common, next_at: dateTime64(due_at) }]
    }
    default:
      return []
  }
}
