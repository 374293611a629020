import type { AnswerRead } from '../../../../src/dispatch/webhooks/answers.js'
import type { AttemptEnd } from '../../../../src/dispatch/webhooks/attempt.js'
import type { Endpoint } from '../../../../src/dispatch/webhooks/endpoint.js'
import { closed } from '../../../../src/kernel/circuit-breaker.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import {
  evolve,
  initialState,
  type WaitingDelivery,
} from '../../../../src/domain/webhooks/deliveries/state.js'
import { aScheduled } from '../../domain/webhooks/deliveries/arbitrary.js'

/** The endpoint of a webhook that has not been used. */
export const anEndpoint = ({
  url = 'http://127.0.0.1/',
  ...known
}: Partial<Endpoint> & { readonly url?: string }): Endpoint => ({
  id: 'w',
  team: 'a',
  content: { url, max_per_minute: null, headers: null } as Endpoint['content'],
  enabled: true,
  revision: 0,
  resetRevision: 0,
  breaker: closed,
  closedByHand: false,
  successes: 0,
  failingSince: null,
  failures: 0,
  lastError: null,
  reported: null,
  throttledUntil: 0,
  hangs: false,
  lastResend: null,
  ...known,
})

/** A delivery that waits for a retry. */
export const aWaitingDelivery = (webhook: string, dueAt: Instant): WaitingDelivery => ({
  ...(evolve(initialState, {
    type: 'DeliveryScheduled',
    data: aScheduled({ webhook_id: webhook }),
  }) as WaitingDelivery),
  phase: 'retrying',
  dueAt,
})

/** The end of an attempt that got an answer. */
export const answered = (succeeded: boolean): AttemptEnd => ({
  kind: 'answered',
  position: undefined,
  answer: {
    verdict: succeeded ? { result: 'succeeded' } : { result: 'failed', notBefore: null },
    error: null,
    receiverUp: succeeded,
    timedOut: false,
    throttledUntil: null,
    disables: null,
  } satisfies AnswerRead,
  sent: undefined as never,
  scheduled: undefined as never,
  webhookRevision: 0,
})
