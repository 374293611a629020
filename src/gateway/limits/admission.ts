import { dearest, mostCostOf } from '../../domain/gateway/budgets/charge.js'
import {
  outcomeOf,
  teamOf,
  termsOf,
  type GatewayCall,
  type Outcome,
} from '../../domain/gateway/budgets/gateway-call.js'
import { maxCompletionTokens } from '../../domain/gateway/budgets/reservation.js'
import { callStream } from '../../domain/calls/events.js'
import { instantOf } from '../../kernel/codec/instant.js'
import type { CompletionRequest } from '../answer/request.js'
import { summaryUsage, type Metered } from '../answer/usage.js'
import { reportedUsageOf } from '../../domain/usage/reported.js'
import type { JsonObject } from '../../kernel/json/json.js'
import type { Exceeded, Gate } from '../../domain/gateway/limits/gate.js'
import type { Position } from '../../kernel/ports/event-store.js'
import { AppendOutcomeUnknown } from '../../kernel/ports/event-store-errors.js'
import type { Ports } from '../../kernel/ports/ports.js'
import type { Target } from '../../domain/gateway/upstreams/offered.js'
import type { LiveLedger } from './live-ledger.js'
import { notReadYet, refusalOf } from './refusals.js'

/** A completion that wants to be let through. */
export interface Asking {
  readonly id: string
  readonly project: string
  readonly keyId: string
  readonly request: CompletionRequest
  readonly promptTokens: number
  readonly targets: readonly Target[]
}

/** What is read of an end. */
interface Told {
  readonly metered: Metered
  readonly said: JsonObject
}

/** A call that began, and ends once. */
interface Begun<Ending> {
  readonly end: (ending: Ending) => Promise<Position | undefined>
}

/** A completion that was let through: what it may need at most is held until its end is written. */
export interface Admission {
  /** What its call keeps of it. */
  readonly attributes: JsonObject
  /** Gives back what is held where it never begins, and settles it with the end. */
  readonly begun: <Ending extends Told, Recorded>(
    recording: Promise<Recorded & Begun<Ending>>,
  ) => Promise<Recorded & Begun<Ending>>
}

export type Admit = (asking: Asking) => Admission

interface Admitting {
  readonly ports: Pick<Ports, 'clock'>
  readonly live: Pick<LiveLedger, 'isReady' | 'progress' | 'limitsOf'>
  readonly gate: Pick<Gate, 'admit'>
  readonly instance: string
  /** Told of a completion that a budget had no room for. */
  readonly onSpent: (call: GatewayCall, refused: Extract<Exceeded, { readonly kind: 'budget' }>) => void
}

/**
 * Lets completions through as the limits of their team, project and key allow (gateway rule 6).
 *
 * @throws Failure 429 or 402 that names the limit, what is used of it and by which calls; 503 until the log was read
 */
export const admitting =
  ({ ports, live, gate, instance, onSpent }: Admitting): Admit =>
  (asking) => {
    if (!live.isReady()) throw notReadYet(live.progress())
    const now = ports.clock.now()
    const { call, tokens } = callOf(asking, instance, now)
    const admitted = gate.admit(live.limitsOf(teamOf(call)), call, tokens, performance.now())
    if (admitted.kind !== 'admitted') {
      if (admitted.kind === 'budget') onSpent(call, admitted)
      throw refusalOf(admitted, call.reserved, now)
    }
    return {
      attributes: termsOf(call),
      begun: async (recording) => {
        const recorded = await recording.catch((error: unknown) => {
          // What may have been written all the same stays held; the log says in the end.
          if (error instanceof AppendOutcomeUnknown) admitted.leave(null)
          else admitted.withdraw()
          throw error
        })
        return { ...recorded, end: ending(recorded, admitted.leave) }
      },
    }
  }

const callOf = (
  { id, project, keyId, request, promptTokens, targets }: Asking,
  instance: string,
  now: Date,
): { readonly call: GatewayCall; readonly tokens: number } => {
  const written = maxCompletionTokens(request)
  const price = dearest(targets.map(({ model }) => model.price))
  const waitMs = targets.reduce((sum, { upstream }) => sum + upstream.content.timeouts.total_ms, 0)
  return {
    tokens: promptTokens + written,
    call: {
      stream: callStream(project, id),
      project,
      id,
      keyId,
      admittedAt: instantOf(now),
      instance,
      deadlineAt: instantOf(new Date(now.getTime() + waitMs)),
      reserved: mostCostOf(price, promptTokens, written),
      price,
    },
  }
}

const ending =
  <Ending extends Told>(
    recorded: Begun<Ending>,
    leave: (outcome: Outcome | null) => void,
  ): Begun<Ending>['end'] =>
  async (ending) => {
    let outcome: Outcome | null = null
    try {
      const position = await recorded.end(ending)
      outcome = outcomeOfEnd(ending)
      return position
    } finally {
      leave(outcome)
    }
  }

const outcomeOfEnd = ({ metered, said }: Told): Outcome =>
  outcomeOf(reportedUsageOf(summaryUsage('', metered.usage)).models, said)
