import { execute } from '../../kernel/execute.js'
import type { Log } from '../../kernel/ports/log.js'
import type { Ports } from '../../kernel/ports/ports.js'
import {
  webhookDecider,
  FAILING_HOURS,
  webhookStream,
  type DisablingReason,
} from '../../domain/webhooks/webhook.js'
import { instantAt } from '../../domain/webhooks/deliveries/times.js'
import type { AttemptEnd, Claimed } from './attempt.js'
import { startedAfterReset, failedForDays, type Endpoint } from './endpoint.js'

const HOUR_MS = 3600 * 1000

type Answered = Extract<AttemptEnd, { kind: 'answered' }>

/** Disables a webhook whose receiver is gone, asked for it, or only failed for days; reports one that fails for hours. */
export const disabling = (
  ports: Pick<Ports, 'eventStore' | 'ids'> & { readonly log: Pick<Log, 'error'> },
  endpointOf: (webhook: string) => Endpoint | undefined,
) => {
  const disable = async (claimed: Claimed, reason: DisablingReason, causationId: string) => {
    const { webhook: id, team, depth } = claimed.delivery
    const cause = { correlationId: causationId, causationId, actor: 'system' }
    const command = { type: 'DisableWebhook', id, team, reason, depth: depth + 1 } as const
    await execute(ports)(webhookDecider, webhookStream(id), [command], cause)
  }

  const reported = new Map<string, string>()
  const reportFailing = (webhook: Endpoint, claimed: Claimed, now: number, causationId: string) => {
    const { id, team, failingSince } = webhook
    const hours = FAILING_HOURS.findLast(
      (one) => failingSince !== null && now - failingSince >= one * HOUR_MS,
    )
    if (failingSince === null || hours === undefined) return
    // The decider recognises a repeat; this only saves reading the stream after each failure.
    const report = `${failingSince} ${hours}`
    if (reported.get(id) === report) return
    reported.set(id, report)
    const command = {
      type: 'ReportFailing',
      id,
      team,
      failingSince: instantAt(failingSince),
      hours,
      depth: claimed.delivery.depth + 1,
    } as const
    const cause = { correlationId: causationId, causationId, actor: 'system' }
    execute(ports)(webhookDecider, webhookStream(id), [command], cause).catch((error: unknown) => {
      // The next failure reports it.
      reported.delete(id)
      const name = error instanceof Error ? error.name : 'unknown'
      ports.log.error('dispatcher.report_failing_failed', { webhook: id, error: name })
    })
  }

  return ({ answer, scheduled, webhookRevision }: Answered, claimed: Claimed, now: number): void => {
    const webhook = endpointOf(claimed.delivery.webhook)
    if (webhook?.enabled !== true || !startedAfterReset(webhook, webhookRevision)) return
    if (!answer.receiverUp) reportFailing(webhook, claimed, now, scheduled.source.event_id)
    const isFailing = !answer.receiverUp && failedForDays(webhook, now)
    const reason = answer.disables ?? (isFailing ? 'failing_for_days' : null)
    if (reason === null) return
    disable(claimed, reason, scheduled.source.event_id).catch((error: unknown) => {
      // The next answer disables it.
      const name = error instanceof Error ? error.name : 'unknown'
      ports.log.error('dispatcher.disable_failed', { webhook: webhook.id, error: name })
    })
  }
}
