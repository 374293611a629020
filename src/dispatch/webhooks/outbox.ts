import { setImmediate } from 'node:timers/promises'
import { deliveryStream } from '../../domain/delivery/events.js'
import type { DispatcherState } from '../../domain/ports/dispatcher-state.js'
import { ConcurrencyConflict } from '../../domain/ports/event-store-errors.js'
import type { Log } from '../../domain/ports/log.js'
import { openPortions } from './portions.js'
import { record, type Recording } from './recording.js'
import type { Scheduling } from './scheduling.js'

/**
 * Deliveries that are to be scheduled, until the log is seen to hold them: nothing else has to be waited for before the
 * events that led to them count as read. Each team's are written a few at a time, oldest first, so that an event that
 * leads to hundreds stands in nobody's way but its own team's.
 */
export interface Outbox {
  readonly put: (scheduling: Scheduling) => void
  /** The log holds it. */
  readonly seen: (scheduling: Pick<Scheduling['data'], 'delivery_id' | 'team' | 'source'>) => void
  /** From here on what is put is written; what was put before and is still here, now. */
  readonly open: () => void
  /** Begins to write nothing more until it is opened again. */
  readonly shut: () => void
  /** Tries again what could not be written. */
  readonly flush: () => void
  /** Gives others a turn where many were put since the last one. */
  readonly pause: () => Promise<void>
  readonly close: () => Promise<void>
}

const KIND = 'outbox'
/** Of all teams together. */
const MOST_AT_ONCE = 1000
const PUT_WITHOUT_PAUSE = 64

type State = Pick<DispatcherState, 'put' | 'remove' | 'some'>

export const openOutbox = (
  state: State,
  ports: Recording & {
    readonly log: Pick<Log, 'error'>
    /** Told what the state failed with. */
    readonly distrust: (error: unknown) => void
  },
): Outbox => {
  const writing = new Map<string, Map<string, Promise<void>>>()
  /** In the log, which has not told of it yet; by team. */
  const written = new Map<string, Set<string>>()
  /** Teams of which more waits than what is being written, in the order of their turns. */
  const behind = new Set<string>()
  const portions = openPortions(() => performance.now())
  let underWay = 0
  let sincePause = 0
  let isOpen = false

  const isBehind = (team: string) => {
    behind.add(team)
    portions.hasMuch(team)
  }
  const isTaken = (team: string, id: string) =>
    writing.get(team)?.has(id) === true || written.get(team)?.has(id) === true

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
        if (own.size === 0) writing.delete(team)
        if (isWritten && isUnseen) entryOf(written, team, () => new Set<string>()).add(delivery_id)
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
      if (writing.has(team)) continue
      behind.delete(team)
      const most = portions.of(team) + (written.get(team)?.size ?? 0)
      const left = outboxOf(state, team, most)
      if (left.length === most) isBehind(team)
      for (const scheduling of left) if (!isTaken(team, scheduling.data.delivery_id)) begin(scheduling)
    }
  }
  const flush = (): void => {
    for (const team of teamsIn(state)) behind.add(team)
    goOn()
  }

  return {
    put: (scheduling) => {
      const { team, delivery_id } = scheduling.data
      state.put(KIND, keyOf(scheduling.data), scheduling)
      sincePause += 1
      if (!isOpen || isTaken(team, delivery_id)) return
      if (behind.has(team) || (writing.get(team)?.size ?? 0) >= portions.of(team)) return isBehind(team)
      portions.hasLittle(team)
      begin(scheduling)
    },
    seen: (data) => {
      const { team, delivery_id } = data
      writing.get(team)?.delete(delivery_id)
      const own = written.get(team)
      own?.delete(delivery_id)
      if (own?.size === 0) written.delete(team)
      state.remove(KIND, keyOf(data))
    },
    open: () => {
      isOpen = true
      flush()
    },
    shut: () => void (isOpen = false),
    flush,
    pause: async () => {
      if (sincePause < PUT_WITHOUT_PAUSE) return
      sincePause = 0
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

const POSITION_DIGITS = 20
/** By team, and there by the position of what led to it. Names and ids have no control characters. */
const keyOf = ({ team, source, delivery_id }: Parameters<Outbox['seen']>[0]): string =>
  `${team}\n${source.position.padStart(POSITION_DIGITS, '0')}\n${delivery_id}`
const beforeAllOf = (team: string) => `${team}\n`
/** Comes behind every digit. */
const behindAllOf = (team: string) => `${team}\n~`

const outboxOf = (state: State, team: string, limit: number): readonly Scheduling[] => {
  const rows = state.some(KIND, limit, beforeAllOf(team))
  return rows.filter(([key]) => key.startsWith(beforeAllOf(team))).map(([, kept]) => kept as Scheduling)
}

function* teamsIn(state: State): Iterable<string> {
  let after = ''
  for (;;) {
    const [first] = state.some(KIND, 1, after)
    if (first === undefined) return
    const team = first[0].slice(0, first[0].indexOf('\n'))
    yield team
    after = behindAllOf(team)
  }
}
