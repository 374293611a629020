import { nothing, type Decider, type DomainEvent, type Refusal } from './decider.js'
import { newEvent, type Cause } from './event.js'
import { catchUp, keptFoldsOf, newFold, type FoldOfStream } from './kept-folds.js'
import type { Appended, Expected, NewEvent, Position, RecordedEvent } from './ports/event-store.js'
import {
  AppendOutcomeUnknown,
  ConcurrencyConflict,
  StreamContention,
  EventTooLarge,
} from './ports/event-store-errors.js'
import type { Ports } from './ports/ports.js'
import { KeyedMutex } from './keyed-mutex.js'

export interface ExecuteResult<State, Event = DomainEvent> {
  /** With the events that were written, and perhaps with later ones: do not keep it across an `await`. */
  readonly state: State
  readonly events: readonly Event[]
  /** The refused commands, by their index in the list. */
  readonly refusals: ReadonlyMap<number, Refusal>
  /** Position of the last event written; undefined when nothing was written. */
  readonly position: Position | undefined
  /** Position of the last event of the stream, written now or earlier: a repeated command can be read at it. */
  readonly readableAt: Position | undefined
  /** Revision of the last event of the stream, on which the next append can build. */
  readonly expected: Expected
}

/** A stream's state with its revision and position. */
export interface LoadedState<State> {
  readonly state: State
  readonly expected: Expected
  readonly position: Position | undefined
}

/** Retries after the first attempt. */
const MAX_TRIES = 5
/** The store retries on its own before it reports an unknown outcome. */
const MAX_TRIES_OF_UNKNOWN = 2

interface Options<State> {
  readonly assumeNew?: boolean
  readonly reload?: () => Promise<LoadedState<State>>
  /**
   * Splits what is too large for one append into several, in order. Only for callers where a crash between them is
   * harmless: each event is valid on its own and a repeat writes the rest, or the last event makes the others count.
   */
  readonly splitAppends?: boolean
}

type ExecutePorts = Pick<Ports, 'eventStore' | 'ids'>

/**
 * One mutex per store. A stream is locked while writers of this process that met a conflict retry one after another.
 */
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
 * Runs commands on one stream: fold, decide, and append all their events in one append. The fold of a long stream is
 * kept, so that only events since then are read. After a conflict it decides
 * again on the new state, up to five times. From the first conflict on, writers of this process queue per stream, so
 * contention within the process cannot use up the retries.
 *
 * `assumeNew` saves the read when the stream most likely does not exist yet and the commands are sure to write.
 * `reload` gets the state without folding the whole stream; `execute` may mutate that state.
 */
export const execute =
  (ports: ExecutePorts) =>
  async <State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    stream: string,
    commands: readonly Command[],
    cause: Cause,
    { assumeNew = false, reload, splitAppends = false }: Options<State> = {},
  ): Promise<ExecuteResult<State, Event>> => {
    let isNew = assumeNew
    const append = splitAppends ? appendInParts : appendSurely
    if (!isNew && reload === undefined && commands.length <= 1)
      return executeKept(ports, decider, stream, commands[0], cause, append)
    const decide = async (): Promise<Decided<State, Event>> => {
      const loaded: LoadedState<State> = isNew
        ? { state: decider.initialState(), expected: 'none', position: undefined }
        : await (reload ?? (() => load(ports, decider, stream)))()
      isNew = false
      const { state, events, refusals } = decideAll(decider, loaded.state, commands)
      return { state, events, refusals, expected: loaded.expected, position: loaded.position }
    }
    if (commands.length === 0) return unchanged(await decide())
    return appendDecided(ports, stream, cause, decide, append)
  }

/** {@link execute} for an aggregate whose commands name their stream. */
export const commandsOf =
  <State, Command, Event extends DomainEvent>(
    decider: Decider<State, Command, Event>,
    streamOf: (command: Command) => string,
    options?: Options<State>,
  ) =>
  (ports: ExecutePorts, command: Command) =>
  (cause: Cause): Promise<ExecuteResult<State, Event>> =>
    execute(ports)(decider, streamOf(command), [command], cause, options)

/** Runs one command on the kept fold, which gets the events once they are written. */
const executeKept = async <State, Command, Event extends DomainEvent>(
  ports: ExecutePorts,
  decider: Decider<State, Command, Event>,
  stream: string,
  command: Command | undefined,
  cause: Cause,
  append: typeof appendSurely,
): Promise<ExecuteResult<State, Event>> => {
  let fold = newFold(decider.initialState())
  const decide = async (): Promise<Decided<State, Event>> => {
    fold = await currentFold(ports, decider, stream)
    const { events, refused } = command === undefined ? nothing : decider.decide(fold.state, command)
    const refusals = new Map(refused === undefined ? [] : [[0, refused]])
    return { state: fold.state, events, refusals, expected: expectedOf(fold), position: fold.position }
  }
  if (command === undefined) return unchanged(await decide())
  const executed = await appendDecided(ports, stream, cause, decide, append)
  const { events, expected, position } = executed
  if (events.length === 0) return executed
  if (position !== undefined && expected === fold.next - 1n + BigInt(events.length)) {
    for (const event of events) fold.state = decider.evolve(fold.state, event)
    fold.next += BigInt(events.length)
    fold.position = position
  } else await catchUp(ports.eventStore, stream, fold, evolveBy(decider))
  return { ...executed, state: fold.state }
}

/** The state of a stream as of now, from its kept fold. Do not keep it across an `await`, and do not change it. */
export const readState = async <State, Command, Event extends DomainEvent>(
  ports: Pick<Ports, 'eventStore'>,
  decider: Decider<State, Command, Event>,
  stream: string,
): Promise<State> => (await currentFold(ports, decider, stream)).state

/** The state of a stream as of a position, from its events up to there. */
export const readStateAt = async <State, Command, Event extends DomainEvent>(
  { eventStore }: Pick<Ports, 'eventStore'>,
  decider: Decider<State, Command, Event>,
  stream: string,
  at: Position,
): Promise<State> => {
  const fold = newFold(decider.initialState())
  await catchUp(eventStore, stream, fold, evolveBy(decider), at)
  return fold.state
}

const currentFold = async <State, Command, Event extends DomainEvent>(
  { eventStore }: Pick<Ports, 'eventStore'>,
  decider: Decider<State, Command, Event>,
  stream: string,
): Promise<FoldOfStream<State>> => {
  const folds = keptFoldsOf(eventStore)
  const erasures = folds.erasures()
  const fold = folds.get(decider, stream) ?? newFold(decider.initialState())
  await catchUp(eventStore, stream, fold, evolveBy(decider))
  if (folds.erasures() === erasures) folds.keep(decider, stream, fold)
  return fold
}

const evolveBy =
  <State, Command, Event extends DomainEvent>({ evolve }: Decider<State, Command, Event>) =>
  (state: State, { type, data }: RecordedEvent): State =>
    evolve(state, { type, data } as Event)

const expectedOf = ({ next }: { readonly next: bigint }): Expected => (next === 0n ? 'none' : next - 1n)

/** Appends what `decide` returns, and calls it again for the fresh state when another writer was faster. */
export const appendDecided = async <State, Event extends DomainEvent>(
  ports: ExecutePorts,
  stream: string,
  cause: Cause,
  decide: () => Promise<Decided<State, Event>>,
  append = appendSurely,
): Promise<ExecuteResult<State, Event>> => {
  const tryOnce = async (): Promise<ExecuteResult<State, Event>> => {
    const decided = await decide()
    const { state, events, refusals, expected } = decided
    if (events.length === 0) return unchanged(decided)
    const recorded = events.map((event) => newEvent(ports.ids.next(), event, cause))
    const { position, revision } = await append(ports, stream, expected, recorded)
    return { state, events, refusals, position, readableAt: position, expected: revision }
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
          throw new StreamContention(`too many concurrent writes to stream ${stream}`, { cause: error })
      }
  })
}

const unchanged = <State, Event>({
  state,
  events,
  refusals,
  position,
  expected,
}: Decided<State, Event>): ExecuteResult<State, Event> => ({
  state,
  events,
  refusals,
  position: undefined,
  readableAt: position,
  expected,
})

/** Folds the whole stream, or up to a position, into a state that the caller may change. */
export const load = async <State, Command, Event extends DomainEvent>(
  ports: Pick<Ports, 'eventStore'>,
  decider: Decider<State, Command, Event>,
  stream: string,
  until?: Position,
): Promise<LoadedState<State>> => {
  const fold = newFold(decider.initialState())
  await catchUp(ports.eventStore, stream, fold, evolveBy(decider), until)
  return { state: fold.state, expected: expectedOf(fold), position: fold.position }
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

/** Retries an append of unknown outcome with the same event ids, which the store recognises. */
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
