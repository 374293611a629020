import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { COUNTS } from '../../counts.js'
import { automationCreated, webhookCreated } from '../../support/dispatching.js'
import { until } from '../../support/until.js'
import { answers, hangs, resets } from '../../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'
import { itWhen } from '../../support/skipping.js'
import { openEventLog } from '../../support/faults/dispatching-log.js'

const MINUTES = COUNTS.soakMinutes

const RUNS_PER_SECOND = 25
const WEBHOOKS = 4
const SAMPLE_EVERY_MS = 5000
const WAITS = [1, 1, 2, 2, 5, 5, 5, 5, 5, 5]
const EVENT = { type: 'RUN_STATE', states: ['RUNNING'] }

interface Sample {
  readonly rss: number
  readonly oldestDue: number
}

const soaking = itWhen(MINUTES > 0, 'SOAK_MINUTES says for how long')

describe('the service that sends for long', function () {
  this.timeout((MINUTES + 5) * 60_000)
  let directory: string
  let receiver: Receiver
  let service: RunningService
  /** Messages by id, and what was answered to each; null for nothing. */
  const arrivals = new Map<string, { readonly isMarked: boolean; readonly status: number | null }[]>()

  before(async function () {
    if (MINUTES === 0) return
    directory = await mkdtemp(join(tmpdir(), 'tallytree-soak-'))
    receiver = await startReceiver(
      (socket, received) => {
        const chance = Math.random()
        const status = chance < 0.95 ? 200 : chance < 0.98 ? 500 : null
        const id = received.headers['webhook-id']!
        const isMarked = received.headers['x-vendor-possible-duplicate'] === 'true'
        arrivals.set(id, [...(arrivals.get(id) ?? []), { isMarked, status }])
        const behave = status !== null ? answers(status) : chance < 0.99 ? resets : hangs
        behave(socket, received)
      },
      { address: '0.0.0.0' },
    )
    const { eventStore, append } = openEventLog(directory)
    for (let at = 0; at < WEBHOOKS; at += 1) {
      // Every loopback address is a host of its own.
      const url = `http://127.0.0.${at + 1}:${receiver.port}/`
      await append(`webhook-w-${at}`, webhookCreated(`w-${at}`, url, { retry_waits_s: WAITS, timeout_s: 1 }))
      const payload = '{"run": "${run_id}"}'
      await append(`automation-a-${at}`, automationCreated(`a-${at}`, `w-${at}`, { event: EVENT, payload }))
    }
    await eventStore.close()
    service = await startRunningService({
      TALLYTREE_DATA_DIR: directory,
      TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    })
  })
  after(async () => {
    if (MINUTES === 0) return
    await service.remove()
    await receiver.stop()
    await rm(directory, { recursive: true })
  })

  const sample = async (): Promise<Sample> => {
    const { text } = await service.send('GET', '/metrics')
    const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
    return { rss: figure('process_resident_memory_bytes'), oldestDue: figure('webhook_oldest_due_seconds') }
  }

  soaking('grows neither in memory nor in what is due, though 5 % of what it meets fails', async () => {
    const began = performance.now()
    const samples: Sample[] = []
    let runs = 0
    const over = new AbortController()
    const watch = async ({ signal }: AbortController): Promise<void> => {
      while (!signal.aborted) {
        samples.push(await sample())
        await sleep(SAMPLE_EVERY_MS)
      }
    }
    const watching = watch(over)
    while (performance.now() - began < MINUTES * 60_000) {
      const { status, text } = await service.post('/api/runs/default/p', { name: `run-${runs}` })
      assert.ok(status === 200 || status === 201, text)
      runs += 1
      await sleep(Math.max(0, began + (runs * 1000) / RUNS_PER_SECOND - performance.now()))
    }
    over.abort()
    await watching
    const arrived = () =>
      [...arrivals.values()].filter((each) => each.some(({ status }) => status === 200)).length
    await until(() => arrived() === WEBHOOKS * runs, 120_000)
    assert.equal(await service.stop(), 0)

    let repeats = 0
    for (const [id, each] of arrivals)
      each.forEach(({ isMarked }, at) => {
        // What was refused with a status may come again without a mark; nothing else may.
        if (!each.slice(0, at).some(({ status }) => status !== 500)) return
        repeats += 1
        assert.ok(isMarked, `${id} came again without a mark`)
      })
    const quarter = (from: number) =>
      samples.slice((samples.length * from) / 4, (samples.length * (from + 1)) / 4)
    const median = (figures: readonly number[]) => figures.toSorted((a, b) => a - b)[figures.length >> 1]!
    const rss = [1, 2, 3].map((at) => median(quarter(at).map((one) => one.rss)))
    const oldestDue = [1, 2, 3].map((at) => Math.max(...quarter(at).map((one) => one.oldestDue)))
    console.log(
      `      ${JSON.stringify({ runs, deliveries: arrivals.size, repeats, rssMiB: rss.map((b) => b >> 20), oldestDue })}`,
    )
    // Until then caches fill, those of the engine among them.
    assert.ok(rss[2]! < 1.15 * rss[1]!)
    assert.ok(oldestDue[2]! <= Math.max(5, 2 * oldestDue[0]!))
  })
})
