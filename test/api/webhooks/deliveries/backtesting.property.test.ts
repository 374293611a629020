import { openInMemoryBlobStore } from '../../../../src/adapters/blobs/in-memory-blob-store.js'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { openSqliteDispatcherState } from '../../../../src/adapters/dispatch-state/sqlite-dispatcher-state.js'
import { compileRe2 } from '../../../../src/adapters/patterns/re2.js'
import { sha256 } from '../../../../src/adapters/system/system.js'
import { replayAutomation } from '../../../../src/application/webhooks/backtesting.js'
import { judgeWithVersion, judgeAtTime } from '../../../../src/application/webhooks/replay.js'
import { storedTemplate } from '../../../../src/domain/webhooks/templates/parse.js'
import { openAutomations } from '../../../../src/dispatch/webhooks/automations.js'
import { afterWebhookEvent } from '../../../../src/dispatch/webhooks/endpoint.js'
import { openEndpointStore } from '../../../../src/dispatch/webhooks/endpoint-store.js'
import { matching } from '../../../../src/dispatch/webhooks/matching.js'
import { openMetricValues } from '../../../../src/dispatch/webhooks/metric-values.js'
import { openPrices } from '../../../../src/dispatch/webhooks/prices.js'
import { scheduleEvents } from '../../../../src/dispatch/webhooks/schedule-event.js'
import { rememberedTemplates } from '../../../../src/dispatch/webhooks/templates.js'
import { cachedPatterns } from '../../../../src/kernel/patterns.js'
import { pastVariables } from '../../../../src/domain/webhooks/automations/matching/past-variables.js'
import { versionHistory } from '../../../../src/domain/webhooks/automations/matching/version-history.js'
import type { EventStore, RecordedEvent } from '../../../../src/kernel/ports/event-store.js'
import { COUNTS } from '../../../counts.js'
import { arbitraryHistory, logOf } from './arbitrary-history.js'

interface Sent {
  readonly id: string
  readonly position: bigint
  readonly variables: object
}

const NAMES = { vendor: 'Vendor', publicUrl: 'https://traces.example' }

/** What the dispatcher schedules for a log, event by event. */
const scheduledFor = async (events: readonly RecordedEvent[]): Promise<readonly Sent[]> => {
  const eventStore = logOf(events)
  const state = openSqliteDispatcherState(':memory:')
  const automations = openAutomations(state)
  const endpoints = openEndpointStore(state)
  const prices = openPrices(state)
  const match = matching({
    eventStore,
    state,
    automations,
    prices,
    values: openMetricValues(eventStore),
    whole: (event) => Promise.resolve(event),
    names: NAMES,
    templates: rememberedTemplates(),
    pattern: cachedPatterns(compileRe2),
  })
  const sent: Sent[] = []
  for (const event of events) {
    for (const matched of await match(event)) {
      if (endpoints.get(matched.automation.content.webhook) === undefined) continue
      const { data } = scheduleEvents(sha256, event, 0, () => 1)(matched)
      const variables = 'variables' in data ? data.variables : {}
      sent.push({ id: data.delivery_id, position: event.position, variables })
    }
    if (event.stream.startsWith('automation-')) automations.apply(event)
    if (event.stream.startsWith('price-')) prices.apply(event)
    if (event.stream.startsWith('webhook-'))
      endpoints.update(event.stream.slice('webhook-'.length), (before) => afterWebhookEvent(before, event))
  }
  state.close()
  return sent
}

const range = fc.record({
  after: fc.nat(40),
  to: fc.integer({ min: 10, max: 80 }),
  limit: fc.integer({ min: 1, max: 4 }),
})
const reads = fc.integer({ min: 1, max: 30 })

describe('a backtest', () => {
  const backtested = async (
    events: readonly RecordedEvent[],
    mode: 'current' | 'historic',
    { after, to, limit }: { readonly after: number; readonly to: number; readonly limit: number },
    mostReads: number,
  ): Promise<readonly Sent[]> => {
    const eventStore = logOf(events) as EventStore
    const ports = { eventStore, blobs: openInMemoryBlobStore(), sha256, compilePattern: compileRe2 }
    const newest = await versionHistory(eventStore, 'a').newest()
    const sent: Sent[] = []
    let from: bigint | null = BigInt(after) * 7n
    while (from !== null) {
      // Each page begins anew, as each request does.
      const judge =
        mode === 'historic'
          ? judgeAtTime(ports, versionHistory(eventStore, 'a'))
          : judgeWithVersion(ports, { ...newest!, enabled: true })
      const asked = { after: from, to: BigInt(to) * 7n, limit }
      const { fired, next } = await replayAutomation(ports, judge, asked, { least: 1, most: mostReads })
      assert.ok(fired.length <= limit)
      for (const { event, decision, version, figure, deliveryId } of fired) {
        const told = { trigger: decision.trigger, eventType: version.content.event.type, figure }
        const template = storedTemplate(version.content)!
        const variables = await pastVariables(eventStore, template, told, NAMES)
        sent.push({ id: deliveryId, position: event.position, variables })
      }
      from = next
    }
    return sent
  }

  const within = (sent: readonly Sent[], after: number, to: number) =>
    sent.filter(({ position }) => position > BigInt(after) * 7n && position <= BigInt(to) * 7n)

  it('of the versions that there were gives what was sent, whatever became of them, in any range and pages', () =>
    fc.assert(
      fc.asyncProperty(arbitraryHistory(true), range, reads, async (events, asked, most) => {
        const sent = within(await scheduledFor(events), asked.after, asked.to)
        assert.deepEqual(await backtested(events, 'historic', asked, most), sent)
      }),
      { numRuns: COUNTS.backtests },
    ))

  it('of an automation that was never changed gives what was sent since it is there', () =>
    fc.assert(
      fc.asyncProperty(arbitraryHistory(false), range, reads, async (events, asked, most) => {
        const created = events.find(({ type }) => type === 'AutomationCreated')!.position
        const sent = within(await scheduledFor(events), asked.after, asked.to)
        const told = await backtested(events, 'current', asked, most)
        assert.deepEqual(
          told.filter(({ position }) => position > created),
          sent,
        )
      }),
      { numRuns: COUNTS.backtests },
    ))
})
