import type { DeliveryEvent, DeliveryScheduled } from '../../domain/delivery/events.js'
import { DEEPEST, deliveryStream } from '../../domain/delivery/events.js'
import { deliveryIdOf } from '../../domain/delivery/id.js'
import { instantOf } from '../../domain/codec/instant.js'
import type { DispatcherState } from '../../domain/ports/dispatcher-state.js'
import { ConcurrencyConflict } from '../../domain/ports/event-store-errors.js'
import type { RecordedEvent } from '../../domain/ports/event-store.js'
import type { Log } from '../../domain/ports/log.js'
import type { Sha256 } from '../../domain/ports/sha256.js'
import type { Matched } from './matching.js'
import { record, type Recording } from './recording.js'

type Scheduling = Extract<DeliveryEvent, { type: 'DeliveryScheduled' | 'DeliverySuppressed' }>

/** What is to be written for a match: the same, whoever matches the event again. */
export const schedulingOf = (
  sha256: Sha256,
  source: RecordedEvent,
  { automation, eventType, team, depth, variables }: Matched,
  depthOfDelivery: number,
): Scheduling => {
  const recordedAt = instantOf(source.recordedAt)
  const common = {
    delivery_id: deliveryIdOf(sha256, { eventId: source.id, automationId: automation.id, action: 0 }),
    team,
    automation_id: automation.id,
    source: {
      event_id: source.id,
      type: source.type,
      stream: source.stream,
      position: String(source.position),
      recorded_at: recordedAt,
    },
    depth: depth ?? depthOfDelivery + 1,
  }
  if (common.depth > DEEPEST) return { type: 'DeliverySuppressed', data: { ...common, reason: 'loop' } }
  const data: DeliveryScheduled = {
    ...common,
    automation_revision: Number(automation.revision),
    webhook_id: automation.content.webhook,
    event_type: eventType,
    variables,
    scheduled_at: recordedAt,
    replay_id: null,
  }
  return { type: 'DeliveryScheduled', data }
}

/**
 * Deliveries that are to be scheduled, until the log is seen to hold them: nothing else has to be waited for before the
 * events that led to them count as read.
 */
export interface Outbox {
  readonly put: (scheduling: Scheduling) => void
  /** The log holds it. */
  readonly seen: (deliveryId: string) => void
  /** From here on what is put is written at once; what was put before and is still here, now. */
  readonly open: () => void
  /** Tries again what could not be written. */
  readonly flush: () => void
  /** Resolves when few enough are being written. */
  readonly room: () => Promise<void>
  readonly close: () => Promise<void>
}

const KIND = 'outbox'
const MOST_AT_ONCE = 1000

export const openOutbox = (
  state: Pick<DispatcherState, 'put' | 'remove' | 'some'>,
  ports: Recording & {
    readonly log: Pick<Log, 'error'>
    /** Told what the state failed with. */
    readonly distrust: (error: unknown) => void
  },
): Outbox => {
  const writing = new Map<string, Promise<void>>()
  /** In the log, which has not told of it yet. */
  const written = new Set<string>()
  let isOpen = false
  let isBehind = false

  const write = async ({ type, data }: Scheduling): Promise<void> => {
    const { delivery_id, source } = data
    const event = { type, data }
    try {
      await record(ports, deliveryStream(delivery_id), 'none', event, source.event_id, { tries: 2 })
      written.add(delivery_id)
    } catch (error) {
      if (error instanceof ConcurrencyConflict) return
      const name = error instanceof Error ? error.name : 'unknown'
      ports.log.error('dispatcher.schedule_failed', { delivery: delivery_id, error: name })
    } finally {
      writing.delete(delivery_id)
      if (isBehind && writing.size <= MOST_AT_ONCE / 2) flush()
    }
  }
  const begin = (scheduling: Scheduling): void => {
    const id = scheduling.data.delivery_id
    if (isOpen && !writing.has(id) && !written.has(id))
      writing.set(id, write(scheduling).catch(ports.distrust))
  }
  const flush = (): void => {
    const left = state.some(KIND, written.size + 2 * MOST_AT_ONCE)
    isBehind = left.length > written.size + MOST_AT_ONCE
    for (const [, scheduling] of left) {
      if (writing.size >= MOST_AT_ONCE) return
      begin(scheduling as Scheduling)
    }
  }

  return {
    put: (scheduling) => {
      state.put(KIND, scheduling.data.delivery_id, scheduling)
      begin(scheduling)
    },
    seen: (deliveryId) => {
      written.delete(deliveryId)
      state.remove(KIND, deliveryId)
    },
    open: () => {
      isOpen = true
      flush()
    },
    flush,
    room: async () => {
      while (writing.size >= MOST_AT_ONCE) await Promise.race(writing.values())
    },
    close: async () => {
      isOpen = false
      isBehind = false
      await Promise.all(writing.values())
    },
  }
}
