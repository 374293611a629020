import { callStream } from '../../domain/calls/call.js'
import { largest, maxCost, maxPrice } from '../../domain/gateway/limits/charge.js'
import {
  outcomeOf,
  teamOf,
  toAttributes,
  type GatewayCall,
} from '../../domain/gateway/limits/gateway-call.js'
import type { BudgetExceeded, Limiter, Permit } from '../../domain/gateway/limits/limiter.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import { reportedUsageOf } from '../../domain/calls/usage/reported.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { EndpointRequest } from '../endpoints/endpoint.js'
import { summaryUsage, type Metered, type PromptTokens } from '../answer/usage.js'
import type { LedgerFollower } from './ledger-follower.js'
import { rateHeaders } from './rate-headers.js'
import { refusalOf, requireReady } from './refusals.js'

interface CompletionToAdmit {
  readonly id: string
  readonly project: string
  readonly keyId: string
  readonly request: Pick<EndpointRequest, 'endpoint' | 'given'>
  readonly prompt: PromptTokens
  readonly targets: readonly Target[]
}

/** An admitted completion: the most that it may use is reserved until it is settled. */
export interface Admission {
  /** Stored with the start of its call. */
  readonly attributes: JsonObject
  /** What is left of rate limits. */
  readonly headers: Readonly<Record<string, string>>
  readonly cancel: Permit['cancel']
  /** `summary`: the gateway's own part of the call's summary. */
  readonly settle: (metered: Metered, summary: JsonObject) => void
}

export type Admit = (completion: CompletionToAdmit) => Admission

interface AdmissionOptions {
  readonly clock: Ports['clock']
  readonly follower: Pick<LedgerFollower, 'isReady' | 'progress' | 'limitsOf'>
  readonly limiter: Limiter
  readonly instance: string
  readonly onBudgetExceeded: (call: GatewayCall, refused: BudgetExceeded) => void
}

/**
 * Admits completions within the limits of their team, project and key (gateway rule 6).
 *
 * @throws Failure 429 or 402 that names the limit and what is used of it; 503 until the log was read
 */
export const admission =
  ({ clock, follower, limiter, instance, onBudgetExceeded }: AdmissionOptions): Admit =>
  (completion) => {
    requireReady(follower)
    const now = clock.now()
    const { call, tokens } = callOf(completion, instance, now)
    const team = teamOf(call)
    const limits = follower.limitsOf(team)
    const permit = limiter.admit(limits, call, tokens)
    const headers = rateHeaders(limiter.left(limits, call), now, completion.request.endpoint.form)
    if (permit.kind === 'budget') onBudgetExceeded(call, permit)
    if (permit.kind !== 'permit') throw refusalOf(team, permit, { requested: call.reserved, now, headers })
    return {
      attributes: toAttributes(call),
      headers,
      cancel: permit.cancel,
      settle: ({ usage }, summary) =>
        permit.settle(outcomeOf(reportedUsageOf(summaryUsage('', usage)).models, summary)),
    }
  }

const callOf = (
  { id, project, keyId, request, prompt, targets }: CompletionToAdmit,
  instance: string,
  now: Date,
): { readonly call: GatewayCall; readonly tokens: number } => {
  const { endpoint, given } = request
  const completionTokens = endpoint.mostTokens(given)
  const searches = endpoint.mostSearches?.(given, prompt.most)
  const prices = targets.map(({ model }) => model.price)
  const totalMs = targets.reduce((sum, { upstream }) => sum + upstream.content.timeouts.total_ms, 0)
  return {
    tokens: prompt.estimate + completionTokens,
    call: {
      stream: callStream(project, id),
      project,
      id,
      keyId,
      admittedAt: instantOf(now),
      instance,
      deadlineAt: instantOf(new Date(now.getTime() + totalMs)),
      reserved: largest(prices.map((price) => maxCost(price, prompt.most, completionTokens, searches))),
      price: maxPrice(prices),
    },
  }
}
