import assert from 'node:assert/strict'
import { CallEndWriter } from '../../../src/gateway/completions/call-end-writer.js'
import { AppendOutcomeUnknown, StoreUnavailable } from '../../../src/kernel/ports/event-store-errors.js'
import type { EventStore } from '../../../src/kernel/ports/event-store.js'
import { rambling } from '../../support/upstreams/rambling.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'

describe('the ends of completions', () => {
  let service: TestService
  let gateway: Gateway
  before(async () => {
    service = await startTestService()
    gateway = await startGateway(service)
  })
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  /** The store takes no ends from here on, until the answered function is called. */
  const refuseEnds = () => {
    const store = service.stores.eventStore as { append: EventStore['append'] }
    const append = store.append.bind(store)
    let refused = 0
    store.append = async (stream, expected, events) => {
      if (events.every(({ type }) => type !== 'CallEnded')) return append(stream, expected, events)
      refused += 1
      throw new StoreUnavailable('away')
    }
    return { refused: () => refused, back: () => void (store.append = append) }
  }

  it('come once the store is back, and the clients get their answers all the same', async () => {
    const project = 'acme/away'
    const store = refuseEnds()
    for (const stream of [false, true]) {
      const answer = await gateway.complete({ stream }, { headers: { 'openai-project': project } })
      assert.equal(answer.status, 200)
      assert.ok(stream ? answer.text.endsWith('data: [DONE]\n\n') : answer.text.includes('Hello, world'))
    }
    await until(() => store.refused() >= 3)
    assert.equal((await gateway.ended(project, 0)).length, 0)
    assert.ok(service.logged.some(({ event }) => event === 'gateway.call_end_append_failing'))
    store.back()
    const ended = await gateway.ended(project, 2)
    assert.deepEqual(
      ended.map(({ summary }) => summary.tallytree?.metering),
      ['reported', 'reported'],
    )
  })

  it('tell of a completion whose start was written unseen that nobody was asked, and nothing is owed', async () => {
    const project = 'acme/unseen'
    const store = service.stores.eventStore as { append: EventStore['append'] }
    const append = store.append.bind(store)
    store.append = async (stream, expected, events) => {
      const appended = await append(stream, expected, events)
      if (events.some(({ type }) => type === 'CallStarted')) throw new AppendOutcomeUnknown('too late')
      return appended
    }
    let asked = 0
    gateway.upstream.behave((_, response) => {
      asked += 1
      response.end()
    })
    const answer = await gateway.complete({}, { headers: { 'openai-project': project } })
    store.append = append
    assert.equal(answer.status, 503, answer.text)
    const [ended] = await gateway.ended(project)
    assert.deepEqual(ended!.summary, { tallytree: { metering: 'unknown', owed: false } })
    assert.match(ended!.exception ?? '', /No request was sent to an upstream/)
    assert.equal(asked, 0)
  })

  it('name the blob of a long answer that was written when it ended, however often they have to be written', async () => {
    const project = 'acme/long'
    const { behaviour, output } = rambling(50_000)
    gateway.upstream.behave(behaviour)
    const store = refuseEnds()
    await gateway.complete({ stream: true, n: 2 }, { headers: { 'openai-project': project } })
    await until(() => store.refused() >= 2)
    store.back()
    const [ended] = await gateway.ended(project)
    const blob = await service.stores.blobs.get(ended!.spilled['output']!.digest)
    assert.deepEqual(JSON.parse(String(Buffer.from(blob!))), { ...output, model: gateway.model })
  })

  it('are waited for, but not for ever', async () => {
    const ends = new CallEndWriter({ info: () => undefined, warn: () => undefined })
    await ends.drain(10_000)
    let tries = 0
    const written = ends.write(() => {
      tries += 1
      return tries < 3 ? Promise.reject(new Error('away')) : Promise.resolve(7n)
    })
    assert.equal(await written, undefined)
    await ends.drain(10_000)
    assert.equal(tries, 3)
    let isWritten = false
    const late = async () => {
      await new Promise(setImmediate)
      void ends.write(async () => {
        await new Promise(setImmediate)
        isWritten = true
        return 8n
      })
    }
    await ends.drain(10_000, late())
    assert.ok(isWritten)
    void ends.write(() => new Promise(() => undefined))
    await ends.drain(1)
  })

  it('leave no room for more completions while too many of them wait', async () => {
    const ends = new CallEndWriter({ info: () => undefined, warn: () => undefined })
    ends.rejectIfBacklogFull()
    for (let many = 0; many < 1000; many += 1) void ends.write(() => Promise.reject(new Error('away')))
    await new Promise(setImmediate)
    assert.throws(() => ends.rejectIfBacklogFull(), { kind: 'overloaded' })
  })
})
