import { watchConfigOf, type Automation } from '../../domain/webhooks/automations/decider.js'
import type { AutomationContent } from '../../domain/webhooks/automations/events.js'
import type { PastDecision } from '../../domain/webhooks/automations/matching/past-decisions.js'
import { versionHistory } from '../../domain/webhooks/automations/matching/version-history.js'
import type { AutomationVersion } from '../../domain/webhooks/automations/state.js'
import { jsonEqual } from '../../kernel/json/equal.js'
import type { Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import type { Services } from '../services.js'
import { messageOf, type RenderedPayload } from './rendered.js'
import {
  judgeAtTime,
  judgeWithVersion,
  predictFirings,
  type Judge,
  type PastFiring,
  type ReplayPorts,
} from './replay.js'

interface FiredEvent extends PastFiring {
  readonly deliveryId: string
  readonly event: RecordedEvent
  readonly decision: PastDecision
}

interface Range {
  /** Exclusive. */
  readonly after: Position
  /** Inclusive. */
  readonly to: Position
  /** Firings at most. */
  readonly limit: number
}

interface FiredPage<Fired> {
  readonly fired: readonly Fired[]
  /** The position to continue after; null at the end of the range. */
  readonly next: Position | null
  readonly read: number
}

/**
 * A page reads at most `most` events, including those read for windows, but at least `least` of the range. Otherwise
 * reading the windows again would use up every page.
 */
const READS = { least: 1000, most: 50_000 }
/** Limits the fired events of a page, and their rendered bodies, in characters. */
const MOST_SIZE = 8 * 1024 * 1024

/**
 * Finds the events of a range for which an automation fires, in log order. Stops at the limit or after reading many
 * events; the next page has the same results as without the stop.
 */
export const replayAutomation = async (
  ports: ReplayPorts,
  judge: Judge,
  { after, to, limit }: Range,
  reads = READS,
): Promise<FiredPage<FiredEvent>> => {
  const firingOf = predictFirings(ports)
  const fired: FiredEvent[] = []
  let read = 0
  let ofRange = 0
  let size = 0
  for await (const event of ports.eventStore.readAll({ after })) {
    if (event.position > to) break
    if (event.unreadable !== undefined) continue
    const decision = await judge(event)
    ofRange += 1
    read += 1 + (decision?.read ?? 0)
    const firing = decision && (await firingOf(event, decision))
    if (firing !== undefined && firing.deliveryId !== null) {
      const { deliveryId } = firing
      fired.push({ ...firing, deliveryId, event, decision: decision! })
      size += event.size
    }
    if (event.position === to) break
    const isMuch = read >= reads.most && ofRange >= reads.least
    if (fired.length === limit || isMuch || size >= MOST_SIZE) return { fired, next: event.position, read }
  }
  return { fired, next: null, read }
}

interface Backtest extends Range {
  /** Judge events with the version of their time, in place of the newest one. */
  readonly isHistoric: boolean
  /** Content to test in place of that of the versions. */
  readonly candidate: AutomationContent | null
}

/** The deliveries that an automation would have sent, with their messages. */
export const backtest = async (
  services: ReplayPorts & Pick<Services, 'vendor' | 'publicUrl'>,
  { id }: Automation,
  { isHistoric, candidate, ...range }: Backtest,
): Promise<FiredPage<FiredEvent & RenderedPayload>> => {
  const versions = versionHistory(services.eventStore, id)
  const judge =
    isHistoric && candidate === null
      ? judgeAtTime(services, versions)
      : judgeWithVersion(services, versionToTest((await versions.newest())!, candidate))
  const page = await replayAutomation(services, judge, range)
  const fired: (FiredEvent & RenderedPayload)[] = []
  let size = 0
  for (const one of page.fired) {
    const message = await messageOf(services, one.version.content, one.decision)
    fired.push({ ...one, ...message })
    size += message.body?.length ?? 0
    if (size >= MOST_SIZE && fired.length < page.fired.length)
      return { fired, next: one.event.position, read: page.read }
  }
  return { ...page, fired }
}

/** The newest version, or the candidate, as if it had always applied. */
const versionToTest = (newest: AutomationVersion, candidate: AutomationContent | null): AutomationVersion => {
  const version = { ...newest, enabled: true }
  if (candidate === null) return version
  // With other conditions, cooldowns do not start at the automation's last change.
  const isSame = jsonEqual(watchConfigOf(candidate), watchConfigOf(newest.content))
  return { ...version, content: candidate, conditionsSince: isSame ? newest.conditionsSince : 0n }
}
