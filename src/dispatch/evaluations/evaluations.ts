import type { CallStarted } from '../../domain/call/events.js'
import { isEvaluationRun } from '../../domain/evaluation/run-calls.js'
import { isJsonObject, type Json } from '../../domain/json/json.js'
import { parseJson } from '../../domain/json/parse.js'
import type { EventStore, RecordedEvent } from '../../domain/ports/event-store.js'
import type { Snapshots } from '../../domain/ports/snapshots.js'
import { findAnchor, followLog, type LogAnchor } from '../../runtime/follow-log.js'
import { recordLoggedRun } from './logged-run.js'
import type { EvaluationPorts } from './ports.js'
import { openRunQueue } from './run-queue.js'
import { isStoreAway } from './store-away.js'
import type { RunKey } from './work-on-run.js'

export interface Evaluations {
  readonly stop: () => Promise<void>
}

interface EvaluationsOptions {
  readonly instance: string
  readonly isAlone: boolean
}

const SAVE_EVERY_MS = 1000
/** Logged runs that have not ended; the oldest are given up. */
const MAX_LOGGED_RUNS = 10_000

/** Follows the log: works on evaluation runs that are requested, and records the end of runs that clients log. */
export const startEvaluations = async (
  ports: EvaluationPorts & { readonly snapshots: Snapshots },
  options: EvaluationsOptions,
): Promise<Evaluations> => {
  const { eventStore, log } = ports
  const known = await loadState(ports.snapshots, eventStore)
  /** Requested and not finished. */
  const requested = new Map(known.requested.map((run) => [keyOf(run), run]))
  /** Logged by clients, and not ended. */
  const logged = new Map(known.logged.map((run) => [keyOf(run), run]))
  let anchor = known.anchor
  let isCaughtUp = false
  const queue = openRunQueue(ports, options)
  const stopping = new AbortController()

  const onRequested = (run: RunKey) => {
    requested.set(keyOf(run), run)
    if (isCaughtUp) queue.add(run)
  }
  const onCallStarted = ({ project_id, id, op_name, attributes }: CallStarted) => {
    const run = { project_id, id }
    if (!isEvaluationRun(op_name, attributes) || requested.has(keyOf(run))) return
    logged.set(keyOf(run), run)
    if (logged.size > MAX_LOGGED_RUNS) logged.delete(logged.keys().next().value!)
  }
  const onCallEnded = async (event: RecordedEvent) => {
    const run = runOf(event)
    if (!logged.has(keyOf(run))) return
    try {
      await recordLoggedRun(ports, run, event)
    } catch (error) {
      if (isStoreAway(error)) throw error
      // Trying again would keep the follower from all later events.
      const { name } = error instanceof Error ? error : new Error()
      log.warn('evaluation.logged_run_not_recorded', { run: run.id, error: name })
    }
    logged.delete(keyOf(run))
  }

  const take = (event: RecordedEvent): Promise<void> | undefined => {
    switch (event.type) {
      case 'CallStarted':
        onCallStarted(event.data as unknown as CallStarted)
        return undefined
      case 'CallEnded':
        return logged.size === 0 ? undefined : onCallEnded(event)
      case 'CallDeleted': {
        const run = runOf(event)
        logged.delete(keyOf(run))
        // Calls below a deleted run cannot be read, so recording more of them is wasted work.
        if (requested.has(keyOf(run))) queue.cancel(run)
        return undefined
      }
      case 'EvaluationRunRequested':
        onRequested(runOf(event))
        return undefined
      case 'EvaluationRunCancelRequested':
        queue.cancel(runOf(event))
        return undefined
      case 'EvaluationRunFinished':
        requested.delete(keyOf(runOf(event)))
        return undefined
      default:
        return undefined
    }
  }

  const follower = followLog({
    eventStore,
    after: known.position,
    onEvent: (event) => {
      const taken = take(event)
      const { id, stream, revision } = event
      anchor = { id, stream, revision }
      return taken
    },
    onCaughtUp: () => {
      isCaughtUp = true
      for (const run of requested.values()) queue.add(run)
    },
    onError: (error) => {
      log.warn('evaluation.follow_failed', { error: error instanceof Error ? error.name : 'unknown' })
    },
    signal: stopping.signal,
  })

  let saved = known.position
  const save = async () => {
    const position = follower.position()
    if (position === saved || anchor === null) return
    const text = JSON.stringify({
      position: String(position),
      anchor: { ...anchor, revision: String(anchor.revision) },
      requested: [...requested.values()],
      logged: [...logged.values()],
    })
    await ports.snapshots.write(text)
    saved = position
  }
  let saving = Promise.resolve()
  const saveOrWarn = () => {
    saving = saving.then(save).catch((error: unknown) => {
      log.warn('evaluation.state_not_saved', { error: error instanceof Error ? error.name : 'unknown' })
    })
    return saving
  }
  const timer = setInterval(() => void saveOrWarn(), SAVE_EVERY_MS)

  return {
    stop: async () => {
      stopping.abort()
      await follower.stopped
      await queue.stop()
      clearInterval(timer)
      await saveOrWarn()
    },
  }
}

const keyOf = ({ project_id, id }: RunKey): string => `${project_id}/${id}`

const runOf = ({ data }: Pick<RecordedEvent, 'data'>): RunKey => {
  const { project_id, id } = data as unknown as RunKey
  return { project_id, id }
}

interface KnownState {
  readonly position: bigint
  readonly anchor: LogAnchor | null
  readonly requested: readonly RunKey[]
  readonly logged: readonly RunKey[]
}

const NOTHING_KNOWN: KnownState = { position: 0n, anchor: null, requested: [], logged: [] }

/** What an earlier process saved, if it is of this log; else everything is found again from the log's first event. */
const loadState = async (
  snapshots: Snapshots,
  eventStore: Pick<EventStore, 'readStream'>,
): Promise<KnownState> => {
  const state = jsonIn(await snapshots.read())
  if (!isJsonObject(state)) return NOTHING_KNOWN
  const { position, anchor, requested, logged } = state
  if (!isDigits(position) || anchor === undefined || !isJsonObject(anchor)) return NOTHING_KNOWN
  const { id, stream, revision } = anchor
  if (typeof id !== 'string' || typeof stream !== 'string' || !isDigits(revision)) return NOTHING_KNOWN
  const place = { id, stream, revision: BigInt(revision) }
  if ((await findAnchor(eventStore, place)) === undefined) return NOTHING_KNOWN
  return { position: BigInt(position), anchor: place, requested: runsIn(requested), logged: runsIn(logged) }
}

const isDigits = (value: Json | undefined): value is string =>
  typeof value === 'string' && /^\d{1,19}$/.test(value)

const jsonIn = (text: string | undefined): Json => {
  try {
    return text === undefined ? null : parseJson(text)
  } catch {
    return null
  }
}

const runsIn = (list: Json | undefined): readonly RunKey[] =>
  Array.isArray(list) ? (list as readonly Json[]).filter(isJsonObject).map((data) => runOf({ data })) : []
