import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { itInFull } from '../../counts.js'
import { aCompleted, aStart } from '../../support/call-requests.js'
import { startTestService, type TestService } from '../../support/service.js'

interface Response {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: string
}

interface SlowRequest {
  readonly response: Promise<Response>
  readonly sendRest: () => Promise<Response>
  readonly disconnect: () => void
}

/** With its values, such a body is a quarter of the memory for requests. */
const LARGE_BYTES = 1_000_000

describe('the memory for requests', () => {
  let service: TestService
  const keys = { a: '', b: '' }
  before(async () => {
    service = await startTestService({ TALLYTREE_MEMORY_MB: '64' })
    for (const team of ['a', 'b'] as const) {
      await service.teams.create(team)
      keys[team] = await service.teams.keyOf(team, `user-of-${team}`, 'member')
    }
  })
  after(() => service.stop())

  const bodyOf = (team: string, bytes: number): string =>
    JSON.stringify({ start: aStart(`${team}/p`, { inputs: { text: 'x'.repeat(bytes) } }) })

  /** Sends a request without the end of its body. */
  const begin = (
    team: 'a' | 'b',
    bytes: number,
    { chunked = false, path = '/call/start', body = bodyOf(team, bytes) } = {},
  ): SlowRequest => {
    const length = chunked ? {} : { 'content-length': String(body.length) }
    const headers = { authorization: `Bearer ${keys[team]}`, 'content-type': 'application/json', ...length }
    const sent = request(`${service.address}${path}`, { method: 'POST', headers })
    const response = new Promise<Response>((resolve, reject) => {
      sent.on('error', reject)
      sent.on('response', (got) => {
        const { statusCode: status = 0, headers } = got
        text(got).then((body) => resolve({ status, retryAfter: headers['retry-after'], body }), reject)
      })
    })
    response.catch(() => undefined)
    sent.write(body.slice(0, -1))
    return {
      response,
      sendRest: () => {
        sent.end(body.slice(-1))
        return response
      },
      disconnect: () => sent.destroy(),
    }
  }

  const whole = (...given: Parameters<typeof begin>) => begin(...given).sendRest()

  /** Runs a test while two requests use up the share of team a. */
  const withShareUsed = async (test: (holders: readonly SlowRequest[]) => Promise<void>): Promise<void> => {
    const holders = [begin('a', LARGE_BYTES), begin('a', LARGE_BYTES)]
    await delay(100)
    try {
      await test(holders)
    } finally {
      for (const holder of holders) holder.disconnect()
      await delay(50)
    }
  }

  it('lets a large body wait until the team has memory again', () =>
    withShareUsed(async ([holder]) => {
      const waiting = whole('a', LARGE_BYTES)
      assert.equal(await Promise.race([waiting, delay(500)]), undefined)
      assert.equal((await holder!.sendRest()).status, 200)
      assert.equal((await waiting).status, 200)
    }))

  it('frees what is reserved for bodies that do not arrive', async () => {
    const lengths = { 'content-type': 'application/json', 'content-length': String(30_000_000) }
    const silent = (['a', 'a', 'b', 'b'] as const).map((team) => {
      const headers = { authorization: `Bearer ${keys[team]}`, ...lengths }
      const sent = request(`${service.address}/call/start`, { method: 'POST', headers })
      sent.on('error', () => undefined)
      sent.write('{')
      return sent
    })
    await delay(100)
    try {
      const responses = await Promise.all([whole('a', LARGE_BYTES), whole('b', LARGE_BYTES)])
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 200],
      )
    } finally {
      for (const sent of silent) sent.destroy()
    }
  })

  it('refuses a large body without a key before it arrives', async () => {
    const sent = request(`${service.address}/api/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': '30000000' },
    })
    sent.on('error', () => undefined)
    sent.write('{')
    const status = await new Promise((resolve) =>
      sent.on('response', ({ statusCode }) => resolve(statusCode)),
    )
    sent.destroy()
    assert.equal(status, 413)
  })

  it('frees the memory of a client that disconnects', () =>
    withShareUsed(async ([holder]) => {
      const waiting = whole('a', LARGE_BYTES)
      holder!.disconnect()
      assert.equal((await waiting).status, 200)
    }))

  it('responds with 503 and Retry-After when the wait takes too long', () =>
    withShareUsed(async () => {
      const [known, chunked] = await Promise.all([
        begin('a', LARGE_BYTES).response,
        begin('a', LARGE_BYTES, { chunked: true }).response,
      ])
      for (const { status, retryAfter, body } of [known, chunked]) {
        assert.deepEqual([status, retryAfter], [503, '5'])
        assert.match((JSON.parse(body) as { reason: string }).reason, /share of the memory/)
      }
    }))

  it('responds in the format of chat completions at their routes', () =>
    withShareUsed(async () => {
      const { status, retryAfter, body } = await begin('a', LARGE_BYTES, { path: '/v1/chat/completions' })
        .response
      assert.deepEqual([status, retryAfter], [503, '5'])
      assert.match((JSON.parse(body) as { error: { message: string } }).error.message, /share of the memory/)
    }))

  it('serves small bodies of the team and all bodies of other teams meanwhile', () =>
    withShareUsed(async () => {
      const waiting = Array.from({ length: 5 }, () => begin('a', LARGE_BYTES))
      const started = performance.now()
      const responses = await Promise.all([
        whole('a', 1000),
        whole('a', 60_000),
        whole('a', 1000, { chunked: true }),
        whole('b', 1000),
        whole('b', LARGE_BYTES),
        whole('b', LARGE_BYTES, { chunked: true }),
      ])
      assert.deepEqual(
        responses.map(({ status }) => status),
        responses.map(() => 200),
      )
      assert.ok(performance.now() - started < 3000)
      for (const each of waiting) each.disconnect()
    }))

  it('serves a body that is larger than the share', async () => {
    const body = JSON.stringify({
      batch: Array.from({ length: 30 }, () => ({
        mode: 'start',
        req: { start: aStart('a/p', { inputs: { text: 'x'.repeat(500_000) } }) },
      })),
    })
    assert.equal((await whole('a', 0, { body, path: '/call/upsert_batch' })).status, 200)
  })

  itInFull('lets usage of more calls than the default limit wait, and usage of fewer not', async () => {
    for (let batch = 0; batch < 11; batch += 1) {
      const calls = Array.from({ length: 1000 }, () => aCompleted('a/usage'))
      const body = JSON.stringify({ batch: calls })
      assert.equal((await whole('a', 0, { body, path: '/v2/a/usage/calls/complete' })).status, 200)
    }
    const usage = (limit: number) =>
      whole('a', 0, { body: JSON.stringify({ project_id: 'a/usage', limit }), path: '/trace/usage' })
    await withShareUsed(async () => {
      const [few, many] = await Promise.all([usage(10_000), usage(100_000)])
      assert.deepEqual([few.status, many.status, many.retryAfter], [200, 503, '5'])
    })
    assert.equal((await usage(100_000)).status, 200)
  })
})
