import assert from 'node:assert/strict'
import { setImmediate as turnOfLoop, setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { Answered } from '../../support/client.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import * as does from '../../support/upstreams/behaviours.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'

/** Text of this length takes a quarter of the memory for requests, as much as one request counts. */
const LONG = 'x'.repeat(3_000_000)

let sent = 0
/** Sends an event without its end, and keeps the connection open. */
const unfinished = does.beginningWith(['Hello'], (response) =>
  response.write(`data: ${LONG}`, () => (sent += 1)),
)
/** In which the service, in this process, reads all that was sent. */
const TURNS = 1000

describe('the memory for answers of upstreams', () => {
  let service: TestService
  let gateway: Gateway
  const keys = { a: '', b: '' }
  before(async () => {
    service = await startTestService({ TALLYTREE_MEMORY_MB: '64' })
    gateway = await startGateway(service)
    for (const team of ['a', 'b'] as const) {
      await service.teams.create(team)
      keys[team] = await service.teams.keyOf(team, `user-of-${team}`, 'member')
    }
  })
  after(async () => {
    await gateway.upstream.close()
    await service.stop()
  })

  const complete = (
    team: 'a' | 'b',
    project: string,
    body: object,
    signal?: AbortSignal,
  ): Promise<Answered> =>
    gateway.complete(body, {
      key: keys[team],
      headers: { 'openai-project': `${team}/${project}` },
      ...(signal && { signal }),
    })

  const recordOf = async (project: string) => {
    await gateway.ended(project)
    const { calls } = await service.in(project).calls.query().json()
    const { exception, output } = calls[0]!
    return { exception, isTruncated: (output as JsonObject)['tallytree_truncated'] === true }
  }

  /** A completion that is not owed says so. */
  const assertMayBeCharged = async (project: string) => {
    const [call] = await gateway.ended(`a/${project}`)
    assert.deepEqual(
      [call!.output, call!.summary.tallytree?.metering, call!.summary.tallytree?.['owed']],
      [null, 'unknown', undefined],
    )
  }

  /** Runs a test while two streams with unfinished events use up the share of team a. */
  const withShareUsed = async (test: () => Promise<void>): Promise<void> => {
    gateway.upstream.behave(unfinished)
    const ending = new AbortController()
    const before = sent
    const streams = [1, 2].map(() =>
      complete('a', 'held', { stream: true }, ending.signal).catch(() => undefined),
    )
    try {
      await until(() => sent === before + streams.length)
      for (let turn = 0; turn < TURNS; turn += 1) await turnOfLoop()
      await test()
    } finally {
      ending.abort()
      await Promise.all(streams)
      await sleep(50)
    }
  }

  it('ends a stream whose unfinished event exceeds the share, and records why', async () => {
    gateway.upstream.behave(unfinished)
    const ending = new AbortController()
    const streams = ['1', '2', '3'].map((name) => complete('a', name, { stream: true }, ending.signal))
    const { status, text } = await Promise.race(streams)
    ending.abort()
    await Promise.allSettled(streams)
    assert.equal(status, 200)
    assert.match(text, /Hello.*share of the memory/s)
    const calls = (await Promise.all(['1', '2', '3'].map((name) => gateway.ended(`a/${name}`)))).flat()
    const failed = calls.filter(({ exception }) => exception !== null)
    assert.ok(failed.length > 0)
    for (const { exception, output } of failed) {
      assert.match(exception!, /share of the memory/)
      assert.match(JSON.stringify(output), /Hello/)
    }
  })

  const unanswered = [
    ['an event', { stream: true }, does.sendingRaw('text/event-stream', `data: ${LONG}`)],
    [
      'a whole answer',
      {},
      does.sendingRaw('application/json', JSON.stringify(does.wholeOf('m', LONG, null))),
    ],
  ] as const
  for (const [name, body, behaviour] of unanswered)
    it(`responds with 503 and Retry-After when the beginning exceeds the share: ${name}`, () =>
      withShareUsed(async () => {
        gateway.upstream.behave(behaviour)
        const project = `refused-${name.replaceAll(' ', '-')}`
        const { status, headers, text } = await complete('a', project, body)
        assert.deepEqual([status, headers.get('retry-after')], [503, '5'])
        assert.match(text, /share of the memory/)
        await assertMayBeCharged(project)
      }))

  it('does not put a whole answer together from a stream that exceeds the share', () =>
    withShareUsed(async () => {
      gateway.upstream.behave(does.endless(200, 16_384).behaviour)
      const { status, text } = await complete('a', 'streamed-whole', {})
      assert.equal(status, 502)
      assert.match(text, /memory of the team/)
      await assertMayBeCharged('streamed-whole')
    }))

  it('serves long answers of other teams meanwhile, and records them whole', () =>
    withShareUsed(async () => {
      gateway.upstream.behave(
        does.sendingRaw('application/json', JSON.stringify(does.wholeOf('m', LONG, null))),
      )
      assert.equal((await complete('b', 'whole', {})).status, 200)
      const { behaviour } = does.endless(200, 16_384)
      gateway.upstream.behave(behaviour)
      assert.equal((await complete('b', 'streamed', { stream: true })).status, 200)
      assert.deepEqual(await recordOf('b/streamed'), { exception: null, isTruncated: false })
    }))

  it('cuts only the record of a long stream of the same team', () =>
    withShareUsed(async () => {
      const { behaviour } = does.endless(200, 16_384)
      gateway.upstream.behave(behaviour)
      const { status, text } = await complete('a', 'cut', { stream: true })
      assert.equal(status, 200)
      assert.ok(text.length > 3_000_000 && text.endsWith('data: [DONE]\n\n'))
      assert.deepEqual(await recordOf('a/cut'), { exception: null, isTruncated: true })
    }))

  it('asks the upstream again afterwards, without counting it as failed', async () => {
    gateway.upstream.behave(does.saying(['Hello']))
    const { status, headers } = await complete('a', 'after', {})
    assert.equal(status, 200, JSON.stringify([...headers]))
  })
})
