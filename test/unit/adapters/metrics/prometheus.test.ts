import assert from 'node:assert/strict'
import { openMetrics } from '../../../../src/adapters/metrics/prometheus.js'

/** The samples of what a scraper reads, without those of the process. */
const samplesOf = (text: string) =>
  text.split('\n').filter((line) => /^(webhook|automation|http|projection)_/.test(line))

describe('the metrics of a process', () => {
  it('show gauges once they are set, and counters from the beginning', async () => {
    const metrics = openMetrics()
    const before = samplesOf(await metrics.read())
    assert.deepEqual(
      before.filter((line) => !/_(bucket|sum|count)[ {]/.test(line)),
      ['webhook_outcome_unknown_total 0', 'webhook_ssrf_blocked_total 0', 'automation_matches_total 0'],
    )

    const { webhooks } = metrics
    webhooks.inFlight.set({}, 3)
    webhooks.deliveries.set({ state: 'pending' }, 7)
    webhooks.attempts.add({ result: 'succeeded', class: '2xx' })
    webhooks.attempts.add({ result: 'succeeded', class: '2xx' }, 4)
    webhooks.attemptSeconds.observe({ phase: 'dns' }, 0.002)
    webhooks.matchSeconds.observe({}, 0.5)
    const after = samplesOf(await metrics.read())
    for (const sample of [
      'webhook_in_flight 3',
      'webhook_deliveries{state="pending"} 7',
      'webhook_attempts_total{result="succeeded",class="2xx"} 5',
      'webhook_attempt_seconds_bucket{le="0.005",phase="dns"} 1',
      'webhook_attempt_seconds_count{phase="dns"} 1',
      'automation_match_seconds_sum 0.5',
    ])
      assert.ok(after.includes(sample), sample)
  })

  it('have every name that webhooks and automations are watched by', async () => {
    const text = await openMetrics().read()
    for (const name of [
      'webhook_attempts_total',
      'webhook_attempt_seconds',
      'webhook_deliveries',
      'webhook_oldest_due_seconds',
      'webhook_schedule_lag_events',
      'webhook_event_to_first_attempt_seconds',
      'webhook_event_to_success_seconds',
      'webhook_in_flight',
      'webhook_breaker_state',
      'webhook_outcome_unknown_total',
      'webhook_ssrf_blocked_total',
      'automation_matches_total',
      'automation_suppressed_total',
      'automation_match_seconds',
    ])
      assert.match(text, new RegExp(`^# TYPE ${name} (counter|gauge|histogram)$`, 'm'))
  })

  it('of two services in one process are apart', async () => {
    const [one, other] = [openMetrics(), openMetrics()]
    one.webhooks.inFlight.set({}, 1)
    assert.ok(!samplesOf(await other.read()).includes('webhook_in_flight 1'))
  })

  it('are worked out before they are read, and told though that fails', async () => {
    const metrics = openMetrics()
    let looks = 0
    metrics.beforeRead(() => {
      throw new Error('away')
    })
    metrics.beforeRead(() => Promise.reject(new Error('away')))
    metrics.beforeRead(async () => metrics.projectionLagEvents.set({}, (looks += 1)))
    for (const expected of [1, 2])
      assert.ok(samplesOf(await metrics.read()).includes(`projection_lag_events ${expected}`))
  })
})
