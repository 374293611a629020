import * as E from 'fp-ts/lib/Either.js'
import { evaluationRuleEvents } from '../../domain/evaluations/rules/rule.js'
import { isJsonObject, type Json } from '../../kernel/json/json.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Snapshots } from '../../kernel/ports/snapshots.js'
import { backoff } from '../../kernel/backoff.js'
import { startReactor, type Reactor, type Release } from '../../kernel/reactor.js'
import { isStoreAway } from './store-away.js'
import type { EvaluationServices } from '../../application/evaluations/services.js'
import { callScoring, type EndedCall, type Rule } from './score-calls.js'

export interface OnlineEvaluation {
  readonly stop: () => Promise<void>
}

const COLLECT_FOR_MS = 1000
const MAX_BATCH = 200
const BACKOFF = { firstMs: 500, maxMs: 30_000 }
const MAX_TRIES = 5

interface Batch {
  readonly calls: EndedCall[]
  readonly release: Release
}

/** A rule applies to calls that end after it was created or enabled. */
interface KnownRule {
  readonly rule: Rule
  readonly since: Position
}

type Rules = Map<string, KnownRule>

const RULE = evaluationRuleEvents.EvaluationRuleCreated

const evolve = (rules: Rules, event: RecordedEvent): Rules => {
  if (event.type === 'CallEnded') return rules
  if (event.type === 'EvaluationRuleDeleted') {
    rules.delete((event.data as { readonly id: string }).id)
    return rules
  }
  const decoded = RULE.decode(event.data)
  if (E.isLeft(decoded)) return rules
  const rule = decoded.right
  const before = rules.get(rule.id)
  const stayedEnabled = before?.rule.enabled === true && rule.enabled
  const since = stayedEnabled && event.type === 'EvaluationRuleChanged' ? before.since : event.position
  return rules.set(rule.id, { rule, since })
}

const rulesInForce: Omit<Reactor<Rules>, 'react'> = {
  name: 'evaluation_rules',
  types: new Set(['CallEnded', 'EvaluationRuleCreated', 'EvaluationRuleChanged', 'EvaluationRuleDeleted']),
  initialState: () => new Map(),
  evolve,
  snapshot: {
    encode: (rules) =>
      [...rules.values()].map(({ rule, since }) => ({ rule: { ...rule }, since: String(since) })),
    decode: (encoded) =>
      Array.isArray(encoded) ? new Map((encoded as readonly Json[]).flatMap(ruleIn)) : undefined,
  },
}

const ruleIn = (one: Json): readonly [string, KnownRule][] => {
  const { rule, since } = isJsonObject(one) ? one : {}
  const decoded = RULE.decode(rule)
  if (E.isLeft(decoded) || typeof since !== 'string' || !/^\d{1,19}$/.test(since)) return []
  return [[decoded.right.id, { rule: decoded.right, since: BigInt(since) }]]
}

/** Follows the log, and scores calls as they end by the rules of their project. */
export const startOnlineEvaluation = async (
  ports: EvaluationServices & { readonly snapshots: Snapshots },
): Promise<OnlineEvaluation> => {
  const { eventStore, log } = ports
  /** What ended before may have been scored by an earlier process. */
  const headAtStart = await eventStore.head()
  const score = callScoring(ports)
  const stopping = new AbortController()
  const { signal } = stopping
  const isStopping = () => signal.aborted
  let collecting: Batch | undefined
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
      if (await workOn(batch)) batch.release()
    })
    return done
  }

  const react: Reactor<Rules>['react'] = (rules, { type, data, position }, { hold }) => {
    if (type !== 'CallEnded' || rules.size === 0) return undefined
    const { project_id: projectId, id } = data as { readonly project_id: string; readonly id: string }
    const applying = [...rules.values()]
      .filter(({ rule, since }) => rule.project_id === projectId && rule.enabled && since < position)
      .map(({ rule }) => rule)
    if (applying.length === 0) return undefined
    collecting ??= { calls: [], release: hold() }
    collecting.calls.push({ projectId, id, position, rules: applying })
    if (collecting.calls.length >= MAX_BATCH) return flush()
    timer ??= setTimeout(() => void flush(), COLLECT_FOR_MS)
    return undefined
  }

  const reactor = await startReactor({ ...rulesInForce, react }, ports)
  return {
    stop: async () => {
      stopping.abort()
      clearTimeout(timer)
      await done
      await reactor.stop()
    },
  }
}
