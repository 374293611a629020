import type { AnswerRead } from '../../../../src/dispatch/webhooks/answers.js'
import type { AttemptEnd } from '../../../../src/dispatch/webhooks/attempt.js'
import type { KnownWebhook } from '../../../../src/dispatch/webhooks/directory.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import {
  evolve,
  initialState,
  type WaitingDelivery,
} from '../../../../src/domain/webhooks/deliveries/state.js'
import { aScheduled } from '../../domain/webhooks/deliveries/arbitrary.js'

/** A webhook as the sender knows it. */
export const aKnownWebhook = ({
  url = 'http://127.0.0.1/',
  ...known
}: Partial<KnownWebhook> & { readonly url?: string }): KnownWebhook => ({
  id: 'w',
  team: 'a',
  content: { url, max_per_minute: null } as KnownWebhook['content'],
  enabled: true,
  revision: 0,
  resetRevision: 0,
  failingSince: null,
  failures: 0,
  lastError: null,
  reported: null,
  throttledUntil: 0,
  hangs: false,
  lastResend: null,
  ...known,
})

/** A delivery that waits to be tried again. */
export const aWaitingDelivery = (webhook: string, dueAt: Instant): WaitingDelivery => ({
  ...(evolve(initialState, {
    type: 'DeliveryScheduled',
    data: aScheduled({ webhook_id: webhook }),
  }) as WaitingDelivery),
  phase: 'retrying',
  dueAt,
})

/** The end of an attempt that was answered. */
export const answered = (succeeded: boolean): AttemptEnd => ({
  kind: 'answered',
  answer: {
    verdict: succeeded ? { result: 'succeeded' } : { result: 'failed', notBefore: null },
    error: null,
    receiverUp: succeeded,
    timedOut: false,
    overloaded: false,
    throttledUntil: null,
    disables: null,
  } satisfies AnswerRead,
  sent: undefined as never,
  scheduled: undefined as never,
  webhookRevision: 0,
})
