import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { undiciUpstreamClient } from '../../../../../src/adapters/outgoing/upstream-client/undici-upstream-client.js'
import {
  UpstreamFault,
  type UpstreamAnswer,
  type UpstreamClient,
  type UpstreamRequest,
} from '../../../../../src/domain/gateway/upstreams/upstream-client.js'
import type { Timeouts } from '../../../../../src/domain/gateway/upstreams/content.js'
import * as receivers from '../../../../support/receivers/behaviours.js'
import { ODD_HEADS, writes } from '../../../../support/receivers/odd-heads.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../../support/receivers/receiver.js'
import { until } from '../../../../support/until.js'

const LONG: Timeouts = { connect_ms: 60_000, first_byte_ms: 60_000, idle_ms: 60_000, total_ms: 60_000 }

const textOf = async ({ body }: UpstreamAnswer): Promise<string> => {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/** What a request failed of, before its head or in its body. */
const faultOf = async (asked: Promise<UpstreamAnswer>): Promise<string> => {
  try {
    await textOf(await asked)
  } catch (error) {
    assert.ok(error instanceof UpstreamFault, String(error))
    return error.message
  }
  return 'none'
}

describe('asking an upstream', () => {
  let client: UpstreamClient
  let receiver: Receiver
  before(() => (client = undiciUpstreamClient({ cidrs: ['127.0.0.0/8'] })))
  after(() => client.close())
  afterEach(() => receiver.stop())

  const behaving = async (behaviour: Behaviour): Promise<void> => {
    receiver = await startReceiver(behaviour)
  }
  const ask = (timeouts: Partial<Timeouts> = {}, signal?: AbortSignal, more: Partial<UpstreamRequest> = {}) =>
    client.ask(
      {
        url: `${receiver.url}v1/chat/completions?a=b`,
        headers: { 'content-type': 'application/json' },
        body: '{"model":"m"}',
        timeouts: { ...LONG, ...timeouts },
        isGuarded: false,
        isFresh: false,
        ...more,
      },
      signal,
    )

  it('brings the request as it was given, and the answer as it came', async () => {
    await behaving(receivers.answers(429, { 'Retry-After': '7', 'X-Two': 'b' }, 'slow down'))
    const answer = await ask()
    assert.equal(answer.status, 429)
    assert.deepEqual([answer.headers['retry-after'], answer.headers['x-two']], ['7', 'b'])
    assert.equal(await textOf(answer), 'slow down')
    assert.equal(await answer.ended, 'complete')
    const [{ method, path, headers, body } = assert.fail()] = receiver.received
    assert.deepEqual([method, path, body.toString()], ['POST', '/v1/chat/completions?a=b', '{"model":"m"}'])
    assert.equal(headers['content-type'], 'application/json')
  })

  it('follows no redirect', async () => {
    await behaving(receivers.redirects(307, 'http://127.0.0.1:1/'))
    const answer = await ask()
    assert.equal(answer.status, 307)
    await textOf(answer)
    assert.equal(receiver.received.length, 1)
  })

  for (const [what, text] of Object.entries(ODD_HEADS))
    it(`reads an answer ${what}, also in pieces, and the next one on its connection`, async () => {
      await behaving(writes(text))
      for (const size of [text.length, 1, 7]) {
        receiver.behave(writes(text, size))
        const answer = await ask()
        assert.deepEqual([answer.status, answer.headers['x-two'], await textOf(answer)], [200, 'b', 'ok'])
        await new Promise(setImmediate)
      }
      assert.equal(receiver.connections(), what.endsWith('chunks') ? 3 : 1)
    })

  it('refuses an answer with two lengths', async () => {
    await behaving(writes('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'))
    assert.match(await faultOf(ask()), /^protocol /)
  })

  const faults: readonly (readonly [string, Behaviour, Partial<Timeouts>, RegExp])[] = [
    ['says nothing', receivers.hangs, { first_byte_ms: 50 }, /^timeout first byte$/],
    ['drips its head', receivers.dripsHead(5), { first_byte_ms: 80 }, /^timeout first byte$/],
    ['announces without end', receivers.floodsEarlyHints, {}, /^protocol TOO_MANY_INTERIM_ANSWERS$/],
    ['stops in its body', receivers.hangsInBody(200), { idle_ms: 50 }, /^timeout idle$/],
    ['drips its body', receivers.drips(200, 5), { total_ms: 3000 }, /^timeout total$/],
    ['closes before its answer', receivers.closes, {}, /^reset UND_ERR_SOCKET$/],
    ['resets before its answer', receivers.resets, {}, /^reset ECONNRESET$/],
    ['resets in its body', receivers.resetsInBody(200), {}, /^reset /],
    ['speaks no HTTP', receivers.answersGarbage, {}, /^protocol HTTPParserError$/],
    ['sends headers without end', receivers.floodsHeaders, {}, /^protocol UND_ERR_HEADERS_OVERFLOW$/],
  ]
  for (const [what, behaviour, timeouts, expected] of faults)
    it(`fails of an upstream that ${what}, and leaves no connection`, async () => {
      await behaving(behaviour)
      assert.match(await faultOf(ask(timeouts)), expected)
      await until(() => receiver.open() === 0)
    })

  it('fails of an upstream that is not there', async () => {
    await behaving(receivers.hangs)
    const closed = await startReceiver(receivers.hangs)
    await closed.stop()
    assert.equal(await faultOf(ask({}, undefined, { url: closed.url })), 'connect ECONNREFUSED')
    assert.match(
      await faultOf(ask({}, undefined, { url: 'http://nowhere.invalid/v1' })),
      /^dns (ENOTFOUND|EAI_AGAIN)$/,
    )
  })

  it('counts connecting by itself, also while an earlier connection hangs', async () => {
    // A full backlog would need another machine; a server that never shakes hands is as slow.
    await behaving(receivers.hangs)
    const secure = receiver.url.replace('http:', 'https:')
    const asked = [50, 60, 70].map((connect_ms) =>
      faultOf(ask({ connect_ms, first_byte_ms: 60_000 }, undefined, { url: secure })),
    )
    assert.deepEqual(await Promise.all(asked), Array(3).fill('timeout connect'))
    await until(() => receiver.open() === 0)
    assert.equal(await faultOf(ask({ total_ms: 40 }, undefined, { url: secure })), 'timeout connect')
  })

  for (const isGuarded of [false, true])
    it(`leaves no connection that is still being made, ${isGuarded ? 'guarded' : 'trusted'}`, async () => {
      await behaving(receivers.hangs)
      const url = receiver.url.replace('http:', 'https:')
      const gone = new AbortController()
      const given = faultOf(ask({}, gone.signal, { url, isGuarded }))
      await until(() => receiver.open() === 1)
      gone.abort()
      assert.equal(await given, 'aborted before it was asked')
      await until(() => receiver.open() === 0)
      assert.equal(receiver.connections(), 1)
      // A slow machine may give up before the receiver sees anything of it.
      for (let connect_ms = 50; receiver.connections() === 1; connect_ms *= 2)
        assert.equal(await faultOf(ask({ connect_ms }, undefined, { url, isGuarded })), 'timeout connect')
      await until(() => receiver.open() === 0)
    })

  it('fails of what cannot be sent at all, and quotes none of it', async () => {
    await behaving(receivers.answers(200))
    const asked = ask({}, undefined, { headers: { authorization: 'Bearer geheim\r\nx: y' } })
    assert.equal(await faultOf(asked), 'protocol UND_ERR_INVALID_ARG')
    assert.equal(receiver.received.length, 0)
  })

  it('sends a request once when a kept connection is reset', async () => {
    await behaving(receivers.answers(200, {}, 'first'))
    await textOf(await ask())
    // The connection is free a moment after the last of the answer.
    await new Promise(setImmediate)
    receiver.behave(receivers.resets)
    assert.equal(await faultOf(ask()), 'reset ECONNRESET')
    assert.deepEqual([receiver.received.length, receiver.connections()], [2, 1])
    receiver.behave(receivers.answers(200, {}, 'again'))
    assert.equal(await textOf(await ask({}, undefined, { isFresh: true })), 'again')
    await until(() => receiver.open() === 0)
  })

  it('ends when its caller is gone, at any time', async () => {
    await behaving(receivers.hangs)
    const gone = new AbortController()
    const before = faultOf(ask({}, gone.signal))
    await until(() => receiver.received.length === 1)
    gone.abort()
    assert.equal(await before, 'aborted by the client')
    await until(() => receiver.open() === 0)
    assert.equal(await faultOf(ask({}, gone.signal)), 'aborted before it was asked')
    assert.equal(receiver.connections(), 1)

    receiver.behave(receivers.drips(200, 5))
    const later = new AbortController()
    const answer = await ask({}, later.signal)
    const reading = faultOf(Promise.resolve(answer))
    later.abort()
    assert.equal(await reading, 'aborted by the client')
    assert.equal((await answer.ended).toString(), 'UpstreamFault: aborted by the client')
    await until(() => receiver.open() === 0)
  })

  it('ends an answer that nobody ever began to read', async () => {
    await behaving(receivers.answersHugely(200, 10_000_000))
    const gone = new AbortController()
    const answer = await ask({}, gone.signal)
    gone.abort()
    assert.ok((await answer.ended) instanceof UpstreamFault)
    await until(() => receiver.open() === 0)
  })

  it('lets the upstream wait for a slow reader, without counting that against it', async () => {
    await behaving(receivers.answersHugely(200, 30_000_000))
    const answer = await ask({ idle_ms: 5000 })
    let read = 0
    for await (const piece of answer.body) {
      if (read === 0) {
        const late = performance.now() + 5500
        await until(() => performance.now() > late)
        assert.ok(receiver.written() < 20_000_000, 'what nobody reads is not taken')
      }
      read += piece.length
    }
    assert.equal(read, 30_000_000)
    assert.equal(await answer.ended, 'complete')
  })

  it('closes the connection when its reader leaves, and keeps nothing of thousands of requests', async () => {
    await behaving(receivers.drips(200, 5))
    const { signal } = new AbortController()
    setMaxListeners(0, signal)
    const listeners = watchListeners(signal)
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        Array.from({ length: 40 }, async () => {
          const answer = await ask({}, signal)
          for await (const piece of answer.body) if (piece.length > 0) break
          assert.equal(await answer.ended, 'left')
        }),
      )
      await until(() => receiver.open() === 0)
    }
    assert.equal(listeners(), 0)
  })

  it('carries many streams at once', async () => {
    await behaving(receivers.answersHugely(200, 200_000))
    const asked = Array.from({ length: 300 }, async () => (await textOf(await ask())).length)
    assert.deepEqual(new Set(await Promise.all(asked)), new Set([200_000]))
  })
})

/** How many listeners were added and not taken away again. */
const watchListeners = (signal: AbortSignal): (() => number) => {
  let there = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    there += 1
    add(...given)
  }
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    there -= 1
    remove(...given)
  }
  return () => there
}
