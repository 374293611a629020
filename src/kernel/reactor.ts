import { createHash } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import { decode } from './codec/codec.js'
import { json, string } from './codec/leaves.js'
import { open } from './codec/struct.js'
import { textLike } from './codec/text.js'
import { followLog, isInLog, type LogAnchor, type LogFollower } from './follow-log.js'
import type { Json } from './json/json.js'
import { parseJson } from './json/parse.js'
import { jsonText } from './json/text.js'
import type { EventStore, Position, RecordedEvent } from './ports/event-store.js'
import { StreamUnreadable } from './ports/event-store-errors.js'
import type { Log } from './ports/log.js'
import type { Snapshots } from './ports/snapshots.js'

/**
 * Folds events of the log into private state, and acts on them. Each event is evolved and reacted to at least once:
 * after a crash or a failed reaction it is delivered again, to a state that may already contain it and later events. So
 * both must be idempotent.
 */
export interface Reactor<State> {
  /** Prefix of its log lines. */
  readonly name: string
  /** Other events are not delivered. */
  readonly types: ReadonlySet<string>
  readonly initialState: () => State
  /** May mutate the state. */
  readonly evolve: (state: State, event: RecordedEvent) => State
  /** Called after `evolve`. The next event waits for a promise; if it rejects, the event is delivered again. */
  readonly react: (state: State, event: RecordedEvent, reacting: Reacting) => Promise<void> | undefined
  readonly snapshot: {
    readonly encode: (state: State) => Json
    /** Undefined for a form that this release does not write. */
    readonly decode: (encoded: Json) => State | undefined | Promise<State | undefined>
  }
}

interface Reacting {
  readonly isCaughtUp: () => boolean
  /** Until it is released, snapshots are from before this event: it is delivered again after a crash. */
  readonly hold: () => Release
}

export type Release = () => void

interface ReactorPorts {
  readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readStream' | 'head'>
  readonly snapshots: Snapshots
  readonly log: Pick<Log, 'info' | 'warn'>
}

export interface RunningReactor<State> extends Pick<LogFollower, 'position' | 'waitFor'> {
  readonly state: () => State
  /** The end of the log at the start. */
  readonly head: Position
  readonly isCaughtUp: () => boolean
  /** Resolves to false if the log is not read to its end in time, or before the stop. */
  readonly caughtUp: (withinMs: number) => Promise<boolean>
  /** Waits for the reaction in progress, and saves the state. */
  readonly stop: () => Promise<void>
}

const SAVE_EVERY_MS = 1000
const TELL_EVERY_MS = 5000

/** Continues after the event of the last snapshot, or from the start of the log. */
export const startReactor = async <State>(
  reactor: Reactor<State>,
  { eventStore, snapshots, log }: ReactorPorts,
  saveEveryMs = SAVE_EVERY_MS,
): Promise<RunningReactor<State>> => {
  const { name, types, evolve, react } = reactor
  const loaded = await loadSnapshot(reactor, { eventStore, snapshots, log })
  const head = await eventStore.head()
  const stopping = new AbortController()
  const held = new Set<{ readonly last: LogAnchor | undefined }>()
  let state = loaded?.state ?? reactor.initialState()
  let last = loaded?.anchor
  let saved = last
  let saving = Promise.resolve()

  const isCaughtUp = () => follower.position() >= head
  const reacting: Reacting = {
    isCaughtUp,
    hold: () => {
      const before = { last }
      held.add(before)
      return () => void held.delete(before)
    },
  }
  const warn = (what: string) => (error: unknown) =>
    log.warn(`${name}.${what}`, { error: error instanceof Error ? error.name : typeof error })

  /** The event is delivered again after any other error. */
  const passOver = (event: RecordedEvent) => (error: unknown) => {
    if (!(error instanceof StreamUnreadable)) throw error
    log.warn(`${name}.event_passed_over`, { position: String(event.position), reason: error.message })
  }

  const save = async () => {
    const [oldest] = held
    const anchor = oldest === undefined ? last : oldest.last
    if (anchor === undefined || anchor.position === saved?.position) return
    await snapshots.write(snapshotText(anchor, reactor.snapshot.encode(state)))
    saved = anchor
  }
  const saveOrWarn = () => (saving = saving.then(save).catch(warn('snapshot_failed')))
  let saveTimer: NodeJS.Timeout | undefined
  const saveSoon = () => {
    saveTimer ??= setTimeout(() => {
      void saveOrWarn().then(() => {
        saveTimer = undefined
        if (last?.position !== saved?.position) saveSoon()
      })
    }, saveEveryMs).unref()
  }

  const follower = followLog({
    eventStore,
    types,
    after: last?.position ?? 0n,
    onEvent: (event) => {
      state = evolve(state, event)
      const done = () => {
        last = event
        saveSoon()
      }
      const reaction = react(state, event, reacting)
      if (reaction !== undefined) return reaction.catch(passOver(event)).then(done)
      done()
      return undefined
    },
    onError: warn('subscription_failed'),
    signal: stopping.signal,
  })
  const telling = setInterval(() => {
    if (isCaughtUp()) return clearInterval(telling)
    log.info(`${name}.reading`, { position: String(follower.position()), head: String(head) })
  }, TELL_EVERY_MS).unref()

  return {
    position: follower.position,
    waitFor: follower.waitFor,
    state: () => state,
    head,
    isCaughtUp,
    caughtUp: (withinMs) => follower.waitFor(head, withinMs),
    stop: async () => {
      clearInterval(telling)
      stopping.abort()
      await follower.stopped
      clearTimeout(saveTimer)
      await saveOrWarn()
    },
  }
}

/** Also in each snapshot. Earlier releases wrote other forms: without a version, with `"1"`, and 2 without a checksum. */
const VERSION = 3

const digits = textLike('digits', /^\d{1,19}$/, 'String should be a whole number')

const snapshotCodec = open('Snapshot', {
  required: {
    version: json,
    checksum: string,
    anchor: open('Anchor', { required: { id: string, stream: string, revision: digits, position: digits } }),
    state: json,
  },
})

const snapshotText = ({ id, stream, revision, position }: LogAnchor, state: Json): string => {
  const anchor = { id, stream, revision: String(revision), position: String(position) }
  return jsonText({ version: VERSION, checksum: checksumOf(anchor, state), anchor, state })
}

/** Finds a state that was changed outside the service. */
const checksumOf = (anchor: Json, state: Json): string =>
  createHash('sha256')
    .update(jsonText([anchor, state]))
    .digest('hex')

const snapshotIn = (text: string) => {
  try {
    const decoded = decode(snapshotCodec)(parseJson(text))
    if (E.isLeft(decoded) || decoded.right.version !== VERSION) return undefined
    const { anchor, state, checksum } = decoded.right
    if (checksum !== checksumOf(anchor, state)) return undefined
    const [revision, position] = [BigInt(anchor.revision), BigInt(anchor.position)]
    return { anchor: { ...anchor, revision, position }, encoded: state }
  } catch {
    return undefined
  }
}

const loadSnapshot = async <State>(
  { name, snapshot }: Reactor<State>,
  { eventStore, snapshots, log }: ReactorPorts,
): Promise<{ readonly anchor: LogAnchor; readonly state: State } | undefined> => {
  const text = await snapshots.read()
  if (text === undefined) return undefined
  const found = snapshotIn(text)
  if (found !== undefined && (await isInLog(eventStore, found.anchor))) {
    const state = await snapshot.decode(found.encoded)
    if (state !== undefined) return { anchor: found.anchor, state }
  }
  log.warn(`${name}.snapshot_rejected`, {
    reason:
      'the snapshot is corrupt, of another release or of another log; the state is rebuilt from the log',
  })
  return undefined
}
