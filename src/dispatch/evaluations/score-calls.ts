import { LRUCache } from 'lru-cache'
import type { EvaluationRuleCreated } from '../../domain/evaluations/rules/rule.js'
import {
  isOfEvaluation,
  isSampled,
  ruleAttributes,
  scoreIdOf,
} from '../../domain/evaluations/rules/sampling.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { EvaluationCall } from '../../domain/evaluations/run-calls.js'
import type { Cause } from '../../kernel/event.js'
import { feedbackStream } from '../../domain/feedback/feedback.js'
import { entityOf } from '../../kernel/ids.js'
import type { Json } from '../../kernel/json/json.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { callRef } from '../../domain/refs/ref.js'
import { endCall, startCall } from '../../application/calls/record.js'
import { forEachAtMost } from './for-each-at-most.js'
import { callNow } from '../../application/evaluations/parsed-call.js'
import { giveScore, recordCalls } from '../../application/evaluations/record.js'
import { loadCalls, selectCalls, tracesOfEvaluations } from '../../application/evaluations/select-calls.js'
import { RunFailed, type EvaluationServices } from '../../application/evaluations/services.js'
import type { RunUser } from '../../application/evaluations/user-reads.js'
import { prepareScorer } from './prepare-scorer.js'
import { queuedScorer, type QueuedScorer } from './scorer-queue.js'

export type Rule = EvaluationRuleCreated

/** A call that ended, with the rules of its project at that time. */
export interface EndedCall {
  readonly projectId: string
  readonly id: string
  readonly position: Position
  readonly rules: readonly Rule[]
}

const CALLS_AT_ONCE = 16
/** Scorers are resolved again after this time, so that lost rights and moved aliases take effect. */
const SCORERS_TTL_MS = 60_000
const MAX_CACHED_RULES = 1000

type ScorersOf = (rule: Rule) => Promise<readonly QueuedScorer[]>

/** Prepares the scorers of rules, and caches them. */
const preparedScorers = (services: EvaluationServices): ScorersOf => {
  const cache = new LRUCache<string, { readonly rule: Rule; readonly scorers: ReturnType<ScorersOf> }>({
    max: MAX_CACHED_RULES,
    ttl: SCORERS_TTL_MS,
  })
  return (rule) => {
    const cached = cache.get(rule.id)
    if (cached?.rule === rule) return cached.scorers
    const scorers = scorersOfRule(services, rule)
    cache.set(rule.id, { rule, scorers })
    scorers.catch(() => cache.delete(rule.id))
    return scorers
  }
}

const scorersOfRule = async (services: EvaluationServices, rule: Rule): Promise<readonly QueuedScorer[]> => {
  const user = { userId: rule.wb_user_id, keyId: rule.key_id }
  const scorers: QueuedScorer[] = []
  for (const ref of rule.scorer_refs) {
    const scorer = await readyScorer(services, ref, user)
    if ('score' in scorer) scorers.push(queuedScorer(scorer))
    else services.log.warn('evaluation.scorer_unavailable', { rule: rule.id, scorer: ref, ...scorer })
  }
  return scorers
}

const readyScorer = async (services: EvaluationServices, ref: string, user: RunUser) => {
  try {
    const scorer = await prepareScorer(services, ref, user)
    return scorer ?? { reason: 'the scorer does not exist, or the user of the rule may not read it' }
  } catch (error) {
    if (error instanceof RunFailed) return { reason: error.message }
    throw error
  }
}

/** Failures of one scorer of one rule in one batch. */
interface Failures {
  readonly rule: string
  readonly scorer: string
  failed: number
  readonly reason: string
}

/** Scores the calls of a batch that rules select, each once. */
export const callScoring = (services: EvaluationServices) => {
  const scorersOf = preparedScorers(services)

  return async (
    calls: readonly EndedCall[],
    {
      mayBeRepeat,
      signal,
    }: { readonly mayBeRepeat: (call: EndedCall) => boolean; readonly signal: AbortSignal },
  ): Promise<void> => {
    const failures = new Map<string, Failures>()
    for (const projectId of new Set(calls.map((call) => call.projectId))) {
      const ofProject = calls.filter((call) => call.projectId === projectId)
      const selected = await selectedCalls(services, projectId, ofProject)
      const repeats = new Map(ofProject.map((call) => [call.id, mayBeRepeat(call)]))
      for await (const page of loadCalls(services, projectId, [...selected.keys()])) {
        const excluded = await tracesOfEvaluations(
          services,
          projectId,
          page.filter(({ parent_id }) => parent_id !== null).map(({ trace_id }) => trace_id),
        )
        const scorable = page.filter(
          (call) => !isOfEvaluation(call) && (call.parent_id === null || !excluded.has(call.trace_id)),
        )
        await forEachAtMost(CALLS_AT_ONCE, iterate(scorable), async (call) => {
          for (const rule of selected.get(call.id) ?? [])
            await Promise.all(
              (await scorersOf(rule)).map(async (scorer) => {
                const reason = await scoreCall(
                  services,
                  rule,
                  scorer,
                  call,
                  repeats.get(call.id) === true,
                  signal,
                )
                if (reason !== undefined) countFailure(failures, rule.id, scorer.name, reason)
              }),
            )
        })
      }
    }
    for (const failure of failures.values()) services.log.warn('evaluation.score_failed', { ...failure })
  }
}

async function* iterate<A>(items: readonly A[]): AsyncGenerator<A> {
  yield* items
}

const countFailure = (
  failures: Map<string, Failures>,
  rule: string,
  scorer: string,
  reason: string,
): void => {
  const key = `${rule}\n${scorer}`
  const failure = failures.get(key)
  if (failure === undefined) failures.set(key, { rule, scorer, failed: 1, reason })
  else failure.failed += 1
}

/** The calls that at least one rule selects and samples, with these rules. */
const selectedCalls = async (
  services: Pick<EvaluationServices, 'clickHouse' | 'readModels' | 'sha256'>,
  projectId: string,
  calls: readonly EndedCall[],
): Promise<ReadonlyMap<string, readonly Rule[]>> => {
  const selected = new Map<string, Rule[]>()
  const position = calls.at(-1)!.position
  for (const rule of new Set(calls.flatMap(({ rules }) => rules))) {
    const sampled = calls.filter(
      ({ id, rules }) => rules.includes(rule) && isSampled(services.sha256, rule.sample_rate, rule.id, id),
    )
    if (sampled.length === 0) continue
    const ids = sampled.map(({ id }) => id)
    for (const id of await selectCalls(services, projectId, rule.filter, ids, position))
      selected.set(id, [...(selected.get(id) ?? []), rule])
  }
  return selected
}

/** Returns why the scorer failed, if it did. */
const scoreCall = async (
  services: EvaluationServices,
  rule: Rule,
  scorer: QueuedScorer,
  call: EvaluationCall,
  mayBeRepeat: boolean,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const { project_id: projectId, id: ruleId, wb_user_id: userId, key_id: keyId } = rule
  const id = scoreIdOf(services.sha256, projectId, ruleId, call.id, scorer.name)
  if (mayBeRepeat && (await isGiven(services, projectId, id))) return undefined
  const cause: Cause = { correlationId: call.trace_id, causationId: call.id, actor: userId }
  const give = (value: Json) =>
    giveScore(
      services,
      {
        projectId,
        id,
        callId: call.id,
        scorer: scorer.name,
        scorerRef: scorer.ref,
        value,
        scoreCallId: scorer.isLocal ? null : id,
      },
      cause,
    )
  await services.throttle(entityOf(projectId))
  if (!scorer.isLocal) {
    const recorded = mayBeRepeat ? await callNow(services, projectId, id) : undefined
    if (recorded !== undefined && recorded.ended_at !== null) {
      if (recorded.exception === null) await give(recorded.output)
      return undefined
    }
    const start = startCall(id, {
      project_id: projectId,
      op_name: `${scorer.name}.score`,
      trace_id: id,
      // The same in every attempt.
      started_at: call.ended_at ?? call.started_at,
      attributes: ruleAttributes(ruleId),
      inputs: { self: scorer.ref, call: callRef(projectId, call.id) },
    })
    // The call is durable before the judge's completion, which is a child of it.
    await recordCalls(services, [start], cause)
  }
  const scored = await scorer.score(
    { example: call.inputs, output: call.output },
    {
      projectId,
      runId: ruleId,
      rowId: call.id,
      scoreId: id,
      traceId: id,
      mayBeRepeat,
      userId,
      keyId,
      signal,
    },
  )
  // An interrupted score is given after the next start.
  signal.throwIfAborted()
  const failed = 'failed' in scored ? scored.failed : null
  const value = 'value' in scored ? scored.value : null
  const endedAt = instantOf(services.clock.now())
  if (!scorer.isLocal)
    await recordCalls(
      services,
      [endCall({ project_id: projectId, id, ended_at: endedAt, output: value, exception: failed })],
      cause,
    )
  if (failed !== null) return failed
  await give(value)
  return undefined
}

const isGiven = async (
  { eventStore }: Pick<EvaluationServices, 'eventStore'>,
  projectId: string,
  id: string,
): Promise<boolean> => {
  for await (const _ of eventStore.readStream(feedbackStream(projectId, id), { limit: 1 })) return true
  return false
}
