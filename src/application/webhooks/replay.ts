import { cachedPatterns } from '../../kernel/patterns.js'
import { depthOf } from '../../domain/webhooks/automations/matching/past-variables.js'
import {
  pastDecisions,
  type PastDecision,
} from '../../domain/webhooks/automations/matching/past-decisions.js'
import type { Figure } from '../../domain/webhooks/automations/matching/verdict.js'
import type { VersionHistory } from '../../domain/webhooks/automations/matching/version-history.js'
import type { AutomationVersion } from '../../domain/webhooks/automations/state.js'
import { DEEPEST } from '../../domain/webhooks/deliveries/events.js'
import { deliveryIdOf } from '../../domain/webhooks/deliveries/id.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { webhookStream } from '../../domain/webhooks/webhook.js'
import { wholeHistory, withWholeHistory } from '../runs/whole-history.js'
import type { ValidationPorts } from './checks.js'

export type ReplayPorts = Pick<ValidationPorts, 'eventStore' | 'blobs' | 'sha256' | 'compilePattern'>

/** Evaluates an automation's conditions for past events, which must be passed in log order. */
export type Judge = (event: RecordedEvent) => Promise<PastDecision | undefined>

/** Evaluates each event with the version of the automation at that time. */
export const judgeAtTime = (ports: ReplayPorts, versions: VersionHistory): Judge => {
  const judge = judging(ports, versions.at)
  return async (event) => {
    const before = versions.read()
    const decision = await judge(event)
    return decision && { ...decision, read: decision.read + versions.read() - before }
  }
}

/** Evaluates all events with one version. */
export const judgeWithVersion = (ports: ReplayPorts, version: AutomationVersion): Judge =>
  judging(ports, () => Promise.resolve(version))

const judging = (
  { eventStore, blobs, compilePattern }: ReplayPorts,
  versionFor: VersionHistory['at'],
): Judge => {
  const whole = wholeHistory(blobs)
  const judge = pastDecisions({
    eventStore: withWholeHistory(eventStore, blobs),
    pattern: cachedPatterns(compilePattern),
    versionFor,
  })
  return async (event) => judge(event.type === 'HistoryLogged' ? await whole(event) : event)
}

/** What the dispatcher does when an automation fires. */
export interface PastFiring {
  readonly version: AutomationVersion
  readonly figure: Figure | null
  /** Null if the webhook was deleted before. */
  readonly deliveryId: string | null
  readonly suppressed: 'loop' | null
}

/** Predicts the firing of a decision; undefined if it does not match. */
export const predictFirings = ({ eventStore, sha256 }: ReplayPorts) => {
  const deletions = new Map<string, Promise<Position | undefined>>()
  const deletionOf = (webhook: string) => {
    const deletion = deletions.get(webhook) ?? deletedAt(eventStore, webhook)
    deletions.set(webhook, deletion)
    return deletion
  }
  return async (
    event: RecordedEvent,
    { trigger, version, verdict }: PastDecision,
  ): Promise<PastFiring | undefined> => {
    if (!verdict.matched || version === undefined) return undefined
    const { figure } = verdict
    const deleted = await deletionOf(version.content.webhook)
    if (deleted !== undefined && deleted < event.position)
      return { version, figure, deliveryId: null, suppressed: null }
    const isLoop = (await depthOf(eventStore, trigger)) > DEEPEST
    const deliveryId = deliveryIdOf(sha256, { eventId: event.id, automationId: version.id, action: 0 })
    return { version, figure, deliveryId, suppressed: isLoop ? 'loop' : null }
  }
}

const deletedAt = async (
  eventStore: ReplayPorts['eventStore'],
  webhook: string,
): Promise<Position | undefined> => {
  const last = eventStore.readStream(webhookStream(webhook), { backwards: true, limit: 1 })
  for await (const { type, position } of last) if (type === 'WebhookDeleted') return position
  return undefined
}
