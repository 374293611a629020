import * as E from 'fp-ts/lib/Either.js'
import { evaluationRuleEvents } from '../../domain/evaluations/rules/events.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { backoff } from '../../kernel/backoff.js'
import { followLog } from '../../kernel/follow-log.js'
import { isDigits, loadState, LOG_START, placeOf, saveRegularly, type LogPlace } from './saved-state.js'
import { isStoreAway } from './store-away.js'
import type { RulePorts } from './rule-ports.js'
import { callScoring, type EndedCall, type Rule } from './score-calls.js'

export interface OnlineEvaluation {
  readonly stop: () => Promise<void>
}

const COLLECT_FOR_MS = 1000
const MAX_BATCH = 200
const BACKOFF = { firstMs: 500, maxMs: 30_000 }
const MAX_TRIES = 5

interface Batch {
  /** Before its first call. */
  readonly after: LogPlace
  readonly calls: EndedCall[]
}

/** A rule applies to calls that end after it was created or enabled. */
interface KnownRule {
  readonly rule: Rule
  readonly since: Position
}

/** Follows the log, and scores calls as they end by the rules of their project. */
export const startOnlineEvaluation = async (
  ports: RulePorts & { readonly snapshots: Snapshots; readonly eventStore: EventStore },
): Promise<OnlineEvaluation> => {
  const { eventStore, log } = ports
  const loaded = await loadState(ports.snapshots, eventStore)
  const from = loaded?.place ?? LOG_START
  const rules = new Map(rulesIn(loaded?.state['rules']).map((one) => [one.rule.id, one]))
  /** What ended before may have been scored by an earlier process. */
  const headAtStart = await eventStore.head()
  const score = callScoring(ports)
  const stopping = new AbortController()
  const { signal } = stopping
  const isStopping = () => signal.aborted
  let place = from
  let collecting: Batch | undefined
  let working: Batch | undefined
  let done = Promise.resolve()
  let timer: NodeJS.Timeout | undefined

  const workOn = async ({ calls }: Batch): Promise<boolean> => {
    let failures = 0
    while (!isStopping()) {
      const isRetry = failures > 0
      try {
        await score(calls, { mayBeRepeat: ({ position }) => isRetry || position <= headAtStart, signal })
        return true
      } catch (error) {
        if (isStopping()) return false
        failures += 1
        const { name, message } = error instanceof Error ? error : new Error(String(error))
        log.warn('evaluation.retrying', { calls: calls.length, error: name, message })
        if (failures >= MAX_TRIES && !isStoreAway(error)) {
          log.warn('evaluation.calls_not_scored', { calls: calls.length, error: name })
          return true
        }
        await backoff(failures, { ...BACKOFF, signal })
      }
    }
    return false
  }

  /** Resolves when the batch is done. Batches are worked on one after another. */
  const flush = (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    done = done.then(async () => {
      if (collecting === undefined || signal.aborted) return
      const batch = collecting
      collecting = undefined
      working = batch
      if (await workOn(batch)) working = undefined
    })
    return done
  }

  const onCallEnded = ({ data, position }: RecordedEvent): Promise<void> | undefined => {
    const { project_id: projectId, id } = data as unknown as {
      readonly project_id: string
      readonly id: string
    }
    const applying = [...rules.values()]
      .filter(({ rule, since }) => rule.project_id === projectId && rule.enabled && since < position)
      .map(({ rule }) => rule)
    if (applying.length === 0) return undefined
    collecting ??= { after: place, calls: [] }
    collecting.calls.push({ projectId, id, position, rules: applying })
    if (collecting.calls.length >= MAX_BATCH) return flush()
    timer ??= setTimeout(() => void flush(), COLLECT_FOR_MS)
    return undefined
  }

  const onRule = (event: RecordedEvent) => {
    if (event.type === 'EvaluationRuleDeleted') {
      rules.delete((event.data as unknown as { readonly id: string }).id)
      return
    }
    const codec = evaluationRuleEvents.EvaluationRuleCreated
    const decoded = codec.decode(event.data)
    if (E.isLeft(decoded)) return
    const rule = decoded.right
    const before = rules.get(rule.id)
    const stayedEnabled = before?.rule.enabled === true && rule.enabled
    const since = stayedEnabled && event.type === 'EvaluationRuleChanged' ? before.since : event.position
    rules.set(rule.id, { rule, since })
  }

  const take = (event: RecordedEvent): Promise<void> | undefined => {
    switch (event.type) {
      case 'CallEnded':
        return rules.size === 0 ? undefined : onCallEnded(event)
      case 'EvaluationRuleCreated':
      case 'EvaluationRuleChanged':
      case 'EvaluationRuleDeleted':
        onRule(event)
        return undefined
      default:
        return undefined
    }
  }

  const follower = followLog({
    eventStore,
    after: from.position,
    onEvent: (event) => {
      const taken = take(event)
      place = placeOf(event)
      return taken
    },
    onError: (error) => {
      log.warn('evaluation.follow_failed', { error: error instanceof Error ? error.name : 'unknown' })
    },
    signal,
  })

  const stopSaving = saveRegularly({
    snapshots: ports.snapshots,
    log,
    from,
    current: () => ({
      place: (working ?? collecting)?.after ?? place,
      state: {
        rules: [...rules.values()].map(({ rule, since }) => ({ rule: { ...rule }, since: String(since) })),
      },
    }),
  })

  return {
    stop: async () => {
      stopping.abort()
      clearTimeout(timer)
      await done
      await follower.stopped
      await stopSaving()
    },
  }
}

const rulesIn = (list: Json | undefined): readonly KnownRule[] =>
  (Array.isArray(list) ? (list as readonly Json[]) : []).flatMap((one) => {
    if (!isJsonObject(one)) return []
    const { rule, since } = one
    const decoded = evaluationRuleEvents.EvaluationRuleCreated.decode(rule)
    return E.isRight(decoded) && isDigits(since) ? [{ rule: decoded.right, since: BigInt(since) }] : []
  })
