import { setImmediate } from 'node:timers/promises'
import { deliveryStream } from '../../domain/webhooks/deliveries/events.js'
import type { DispatcherState } from '../../domain/webhooks/deliveries/dispatcher-state.js'
import { ConcurrencyConflict } from '../../kernel/ports/event-store-errors.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Company } from './company.js'
import { openPortions } from './portions.js'
import { record, type Recording } from './recording.js'
import type { Scheduling } from './scheduling.js'
import { openUnscheduled, type Scheduled } from './unscheduled.js'

/**
 * Deliveries that are to be scheduled, until the log is seen to hold them: nothing else has to be waited for before the
 * events that led to them count as read. Each team's are written a few at a time, oldest first, so that an event that
 * leads to hundreds stands in nobody's way but its own team's.
 */
export interface Outbox {
  readonly put: (scheduling: Scheduling) => void
  /** The log holds it. */
  readonly seen: (scheduled: Scheduled) => void
  /** From here on what is put is written; what was put before and is still here, now. */
  readonly open: () => void
  /** Keeps so many more: whether all that was put is kept now, as it must be before what led to it counts as read. */
  readonly settle: (most: number) => boolean
  /** The state was taken back: begins to write nothing more until it is opened again. */
  readonly forget: () => void
  /** Tries again what could not be written. */
  readonly flush: () => void
  /** Gives others a turn where many were put since the last one. */
  readonly pause: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Of all teams together. */
const MOST_AT_ONCE = 1000
const PUT_WITHOUT_PAUSE = 64
const MOST_IN_MEMORY = 1000
/** How long what was written, or stood in the way of being written, may stay unseen before it is doubted. */
const SEEN_WITHIN_MS = 10_000

export const openOutbox = (
  state: Pick<DispatcherState, 'put' | 'remove' | 'some'>,
  ports: Recording & {
    readonly log: Pick<Log, 'error'>
    readonly company: Company
    /** Told what the state failed with. */
    readonly distrust: (error: unknown) => void
  },
  seenWithinMs = SEEN_WITHIN_MS,
): Outbox => {
  const writing = new Map<string, Map<string, Promise<void>>>()
  /** In the log, as it answered, though it has not told of it yet: by team, and until when that is believed. */
  const written = new Map<string, Map<string, number>>()
  /** Teams of which more waits than what is being written, in the order of their turns. */
  const behind = new Set<string>()
  /** Teams that begin nothing of what they are behind with for the moment. */
  const resting = new Set<string>()
  const unscheduled = openUnscheduled(state)
  const portions = openPortions(() => performance.now())
  let underWay = 0
  let sincePause = 0
  let isOpen = false

  const isBehind = (team: string) => {
    behind.add(team)
    portions.hasMuch(team)
  }
  const isTaken = (team: string, id: string) =>
    writing.get(team)?.has(id) === true || (written.get(team)?.get(id) ?? 0) > performance.now()

  /** Whether the log holds it now. */
  const write = async ({ type, data }: Scheduling): Promise<boolean> => {
    const { delivery_id, source } = data
    try {
      const event = { type, data }
      await record(ports, deliveryStream(delivery_id), 'none', event, source.event_id, { tries: 2 })
      return true
    } catch (error) {
      if (error instanceof ConcurrencyConflict) return true
      const name = error instanceof Error ? error.name : 'unknown'
      ports.log.error('dispatcher.schedule_failed', { delivery: delivery_id, error: name })
      return false
    }
  }
  const begin = (scheduling: Scheduling): void => {
    const { team, delivery_id } = scheduling.data
    const own = entryOf(writing, team, () => new Map<string, Promise<void>>())
    underWay += 1
    const ending = write(scheduling)
      .then((isWritten) => {
        underWay -= 1
        const isUnseen = own.delete(delivery_id)
        if (own.size === 0 && writing.get(team) === own) writing.delete(team)
        if (isWritten && isUnseen)
          entryOf(written, team, () => new Map<string, number>()).set(
            delivery_id,
            performance.now() + seenWithinMs,
          )
        // What could not be written is left for `flush`, and what waits behind it too.
        if (!isWritten) behind.delete(team)
        goOn()
      })
      .catch(ports.distrust)
    own.set(delivery_id, ending)
  }
  /** The next portion of each team whose last one is written. */
  const goOn = (): void => {
    for (const team of behind) {
      if (!isOpen || underWay >= MOST_AT_ONCE) return
      if (writing.has(team) || resting.has(team)) continue
      behind.delete(team)
      const portion = portions.of(team)
      const most = portion.most + (written.get(team)?.size ?? 0)
      const left = unscheduled.firstOf(team, most)
      if (left.length === most) isBehind(team)
      else portions.caughtUp(team)
      for (const scheduling of left) if (!isTaken(team, scheduling.data.delivery_id)) begin(scheduling)
      if (portion.restMs > 0) rest(team, portion.restMs)
    }
  }
  const rest = (team: string, restMs: number): void => {
    resting.add(team)
    const end = () => {
      resting.delete(team)
      try {
        goOn()
      } catch (error) {
        ports.distrust(error)
      }
    }
    setTimeout(() => void ports.company.wait(restMs).then(end), restMs)
  }
  const flush = (): void => {
    for (const team of unscheduled.teams()) behind.add(team)
    goOn()
  }

  return {
    put: (scheduling) => {
      const { team, delivery_id } = scheduling.data
      unscheduled.add(scheduling)
      sincePause += 1
      if (!isOpen || isTaken(team, delivery_id)) return
      if (behind.has(team) || (writing.get(team)?.size ?? 0) >= portions.of(team).most) return isBehind(team)
      portions.hasLittle(team)
      begin(scheduling)
    },
    seen: (data) => {
      const { team, delivery_id } = data
      writing.get(team)?.delete(delivery_id)
      const own = written.get(team)
      own?.delete(delivery_id)
      if (own?.size === 0) written.delete(team)
      unscheduled.remove(data)
    },
    open: () => {
      isOpen = true
      flush()
    },
    settle: unscheduled.settle,
    forget: () => {
      isOpen = false
      behind.clear()
      unscheduled.forget()
    },
    flush,
    pause: async () => {
      if (sincePause < PUT_WITHOUT_PAUSE) return
      sincePause = 0
      while (unscheduled.inMemory() > MOST_IN_MEMORY) {
        unscheduled.makeRoom(PUT_WITHOUT_PAUSE)
        await setImmediate()
      }
      await setImmediate()
    },
    close: async () => {
      isOpen = false
      await Promise.all([...writing.values()].flatMap((own) => [...own.values()]))
    },
  }
}

const entryOf = <A>(map: Map<string, A>, key: string, make: () => A): A => {
  const found = map.get(key) ?? make()
  map.set(key, found)
  return found
}
