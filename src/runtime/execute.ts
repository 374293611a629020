import type { Decider, DomainEvent, Refusal } from '../domain/decider.js'
import { newEvent, type Cause } from '../domain/event.js'
import type { Appended, Expected, NewEvent, Position } from '../domain/ports/event-store.js'
import {
  AppendOutcomeUnknown,
  ConcurrencyConflict,
  CrowdedStream,
  EventTooLarge,
} from '../domain/ports/event-store-errors.js'
import type { Ports } from '../domain/ports/ports.js'
import { KeyedMutex } from './keyed-mutex.js'

export interface Executed<State, Event = DomainEvent> {
  readonly state: State
  /** What was written, in order. */
  readonly events: readonly Event[]
  /** One for each command that was not taken, by the command's place in the list. */
  readonly refusals: ReadonlyMap<number, Refusal>
  /** Where the last event written stands; undefined when nothing had to be written. */
  readonly position: Position | undefined
  /** Where the last event of the stream stands, written now or found there: what a repeat repeats can be read at it. */
  readonly readableAt: Position | undefined
}

/** A stream's state, and the revision and position that it is of. */
export interface Loaded<State> {
  readonly state: State
  readonly expected: Expected
  readonly position: Position | undefined
}

/** After the first. */
const MAX_TRIES = 5
/** A store waits and tries again itself before it says that an outcome is unknown. */
const MAX_TRIES_OF_UNKNOWN = 2

interface Options<State> {
  readonly assumeNew?: boolean
  readonly reload?: () => Promise<Loaded<State>>
  /**
   * Writes what is too large for one append in several, in order. Only where a crash between them is harmless: each
   * event stands by itself and a repeat writes the rest, or the last event makes the others count.
   */
  readonly splitAppends?: boolean
}

type ExecutePorts = Pick<Ports, 'eventStore' | 'ids'>

/** By store. A stream is locked while writers of this process that met a conflict wait for each other. */
const mutexes = new WeakMap<object, KeyedMutex>()

const mutexOf = (store: object): KeyedMutex => {
  const mutex = mutexes.get(store) ?? new KeyedMutex()
  mutexes.set(store, mutex)
  return mutex
}

/** What commands make of a stream, and the revision and position of the state that they were decided on. */
export interface Decided<State, Event> {
  readonly state: State
  readonly events: readonly Event[]
  readonly refusals: ReadonlyMap<number, Refusal>
  readonly expected: Expected
  readonly position: Position | undefined
}

/**
 * Runs commands on one stream: fold, decide, append what they decided as one append, all or none. When another
 * writer was faster the same commands are decided again on the fresh state, up to five times. Writers of this
 * process do so one after another, and who comes while some wait, waits too: however many they are, each is taken.
 *
 * `assumeNew` spares the read when the stream most likely does not exist yet and the commands would then surely
 * write. `reload` gets the state in another way than by folding the whole stream; the state is then changed here.
 */
export const execute =
  (ports: ExecutePorts) =>
  async <State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    commands: readonly Command[],
    cause: Cause,
    {
      assumeNew = false,
      reload = () => load(ports, decider, stream),
      splitAppends = false,
    }: Options<State> = {},
  ): Promise<Executed<State, Event>> => {
    let isNew = assumeNew
    const decide = async (): Promise<Decided<State, Event>> => {
      const loaded: Loaded<State> = isNew
        ? { state: decider.initialState(), expected: 'none', position: undefined }
        : await reload()
      isNew = false
      return { ...loaded, ...decideAll(decider, loaded.state, commands) }
    }
    if (commands.length === 0) return unchanged(await decide())
    return appendDecided(ports, stream, cause, decide, splitAppends ? appendInParts : appendSurely)
  }

/** Appends what `decide` returns, and calls it again for the fresh state when another writer was faster. */
export const appendDecided = async <State, Event extends DomainEvent>(
  ports: ExecutePorts,
  stream: string,
  cause: Cause,
  decide: () => Promise<Decided<State, Event>>,
  append = appendSurely,
): Promise<Executed<State, Event>> => {
  const tryOnce = async (): Promise<Executed<State, Event>> => {
    const decided = await decide()
    const { state, events, refusals, expected } = decided
    if (events.length === 0) return unchanged(decided)
    const recorded = events.map((event) => newEvent(ports.ids.next(), event, cause))
    const { position } = await append(ports, stream, expected, recorded)
    return { state, events, refusals, position, readableAt: position }
  }
  const mutex = mutexOf(ports.eventStore)

  if (!mutex.isLocked(stream))
    try {
      return await tryOnce()
    } catch (error) {
      if (!(error instanceof ConcurrencyConflict)) throw error
    }

  return mutex.runExclusive(stream, async () => {
    for (let tries = 1; ; tries += 1)
      try {
        return await tryOnce()
      } catch (error) {
        if (!(error instanceof ConcurrencyConflict)) throw error
        if (tries === MAX_TRIES)
          throw new CrowdedStream(`too many concurrent writes to stream ${stream}`, { cause: error })
      }
  })
}

const unchanged = <State, Event>({
  state,
  events,
  refusals,
  position,
}: Decided<State, Event>): Executed<State, Event> => ({
  state,
  events,
  refusals,
  position: undefined,
  readableAt: position,
})

/** Folds a stream as it stands. */
export const load = async <State, Command, Event extends DomainEvent>(
  ports: Pick<Ports, 'eventStore'>,
  { initialState, evolve }: Decider<State, Command, Event>,
  stream: string,
): Promise<Loaded<State>> => {
  let state = initialState()
  let expected: Expected = 'none'
  let last: Position | undefined
  for await (const { type, data, revision, position } of ports.eventStore.readStream(stream)) {
    state = evolve(state, { type, data } as unknown as Event)
    expected = revision
    last = position
  }
  return { state, expected, position: last }
}

const decideAll = <State, Command, Event extends DomainEvent>(
  { decide, evolve }: Decider<State, Command, Event>,
  initial: State,
  commands: readonly Command[],
) => {
  let state = initial
  const events: Event[] = []
  const refusals = new Map<number, Refusal>()
  commands.forEach((command, index) => {
    const decision = decide(state, command)
    if (decision.refused !== undefined) refusals.set(index, decision.refused)
    for (const event of decision.events) {
      events.push(event)
      state = evolve(state, event)
    }
  })
  return { state, events, refusals }
}

const appendInParts = async (
  ports: Pick<Ports, 'eventStore'>,
  stream: string,
  expected: Expected,
  events: readonly NewEvent[],
): Promise<Appended> => {
  try {
    return await appendSurely(ports, stream, expected, events)
  } catch (error) {
    if (!(error instanceof EventTooLarge) || events.length === 1) throw error
    const half = events.length >> 1
    const { revision } = await appendInParts(ports, stream, expected, events.slice(0, half))
    return appendInParts(ports, stream, revision, events.slice(half))
  }
}

/** An append whose outcome is unknown is sent again with the same ids, which the store recognises. */
const appendSurely = async (
  { eventStore }: Pick<Ports, 'eventStore'>,
  stream: string,
  expected: Expected,
  events: readonly NewEvent[],
): Promise<Appended> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await eventStore.append(stream, expected, events)
    } catch (error) {
      if (!(error instanceof AppendOutcomeUnknown) || tries === MAX_TRIES_OF_UNKNOWN) throw error
    }
  }
}
