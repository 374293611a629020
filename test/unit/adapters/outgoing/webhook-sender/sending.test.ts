import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { dialling, type Dial } from '../../../../../src/adapters/outgoing/guard/connect-to-any.js'
import {
  webhookSender,
  type ClosableWebhookSender,
  type WebhookSenderOptions,
} from '../../../../../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import type { SendError, SendResult } from '../../../../../src/kernel/ports/webhook-sender.js'
import { COUNTS } from '../../../../counts.js'
import * as receivers from '../../../../support/receivers/behaviours.js'
import { startNameServer } from '../../../../support/receivers/name-server.js'
import { ODD_HEADS, writes } from '../../../../support/receivers/odd-heads.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../../support/receivers/receiver.js'
import { until } from '../../../../support/until.js'

const LOOPBACK = { allowed: { cidrs: ['127.0.0.0/8'] } }
const BODY = Buffer.from('{"name":"Zoë \u{1F984}","nul":"\\u0000"}')

const SENDS_EACH = COUNTS.sendsPerKind
const VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'ALL_PROXY']

const ok = (headers: string): string => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\nok`

describe('sending a message once', () => {
  let receiver: Receiver
  let sender: ClosableWebhookSender
  let sockets: Socket[]
  const dial: Dial = (address, port) => {
    const socket = dialling(address, port)
    sockets.push(socket)
    return socket
  }
  const open = (options: WebhookSenderOptions = {}): void => {
    sender.close()
    sender = webhookSender({ ...LOOPBACK, dial, ...options })
  }
  beforeEach(async () => {
    sockets = []
    receiver = await startReceiver(receivers.answers(200))
    sender = webhookSender({ ...LOOPBACK, dial })
  })
  afterEach(async () => {
    sender.close()
    await receiver.stop()
    await until(() => sockets.every(({ destroyed }) => destroyed))
  })

  const send = (
    given: { url?: string; timeoutMs?: number; signal?: AbortSignal; body?: Uint8Array } = {},
  ): Promise<SendResult> => {
    const { url = receiver.url, timeoutMs = 30_000, signal, body = BODY } = given
    return sender.send({ url, headers: { 'X-Vendor-Signature': 'abc' }, body, timeoutMs }, signal)
  }
  const meet = (behaviour: Behaviour, timeoutMs?: number): Promise<SendResult> => {
    receiver.behave(behaviour)
    return send(timeoutMs === undefined ? {} : { timeoutMs })
  }

  it('posts the very bytes, and tells what was answered', async () => {
    const url = `${receiver.url}a%2Fb/%ff?q=%20+&q=[]|`
    receiver.behave(receivers.answers(202, { 'X-Answer': 'yes', 'set-cookie': 'a=b' }, 'thanks'))
    const sent = await send({ url })

    const head = [
      'POST /a%2Fb/%ff?q=%20+&q=[]| HTTP/1.1',
      'user-agent: Tallytree',
      'accept-encoding: identity',
      'X-Vendor-Signature: abc',
      `content-length: ${BODY.length}`,
      `Host: 127.0.0.1:${receiver.port}`,
      'Connection: keep-alive',
    ]
    assert.equal(receiver.bytes().toString(), `${head.join('\r\n')}\r\n\r\n${BODY.toString()}`)
    const { status, headers, body, error, bodySent, peer, phases } = sent
    assert.deepEqual(
      { status, headers, body: Buffer.from(body).toString(), error, bodySent, peer },
      {
        status: 202,
        headers: { 'content-length': '6', 'x-answer': 'yes', 'set-cookie': 'a=b' },
        body: 'thanks',
        error: null,
        bodySent: true,
        peer: '127.0.0.1',
      },
    )
    assert.deepEqual([phases.dns, phases.tls], [null, null])
    assert.ok(phases.connect! >= 0 && phases.first_byte! >= 0 && phases.total >= phases.first_byte!)
  })

  it('sends a part of a larger piece of memory, and bytes that are no text', async () => {
    const body = new Uint8Array(512).map((_, at) => at).subarray(100, 400)
    await send({ body })
    await send({ body: new Uint8Array() })
    assert.deepEqual(
      receiver.received.map(({ body: came }) => came),
      [Buffer.from(body), Buffer.alloc(0)],
    )
  })

  it('takes any status for an answer, and brings no cookie back', async () => {
    for (const status of [201, 204, 304, 400, 401, 410, 418, 429, 500, 503, 599])
      assert.equal((await meet(receivers.answers(status, { 'set-cookie': 'a=b' }))).status, status)
    await send()
    assert.doesNotMatch(receiver.bytes().toString(), /cookie|proxy/i)
  })

  it('asks no proxy that the environment names', async () => {
    const proxy = await startReceiver(receivers.answers(200))
    for (const name of VARIABLES) process.env[name] = proxy.url
    try {
      assert.equal((await send()).status, 200)
      assert.equal(proxy.connections(), 0)
    } finally {
      for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
      await proxy.stop()
    }
  })

  const unanswered: readonly (readonly [string, Behaviour, SendError, number?])[] = [
    ['hangs before the head', receivers.hangs, { kind: 'timeout', phase: 'total' }, 1500],
    ['drips its head', receivers.dripsHead(20), { kind: 'timeout', phase: 'total' }, 1500],
    ['closes without an answer', receivers.closes, { kind: 'reset', code: 'ECONNRESET' }],
    ['resets the connection', receivers.resets, { kind: 'reset', code: 'ECONNRESET' }],
    ['speaks no HTTP', receivers.answersGarbage, { kind: 'protocol', code: 'HPE_INVALID_CONSTANT' }],
    [
      'announces without end',
      receivers.floodsEarlyHints,
      { kind: 'protocol', code: 'TOO_MANY_INTERIM_ANSWERS' },
    ],
  ]
  for (const [what, behaviour, error, timeoutMs] of unanswered)
    it(`fails where the receiver ${what}, and leaves nothing open`, async () => {
      const sent = await meet(behaviour, timeoutMs)
      assert.deepEqual([sent.status, sent.error, sent.bodySent], [null, error, true])
      await until(() => receiver.open() === 0)
      assert.equal(receiver.received.length, 1)
    })

  const cutShort: readonly (readonly [string, Behaviour, string])[] = [
    ['hangs in the body', receivers.hangsInBody(200), 'part'],
    ['drips the body', receivers.drips(200, 20), 'x'],
    ['resets in the body', receivers.resetsInBody(200), 'part'],
  ]
  for (const [what, behaviour, beginning] of cutShort)
    it(`has its answer where the receiver ${what} behind a head`, async () => {
      const sent = await meet(behaviour, 1500)
      assert.deepEqual([sent.status, sent.error], [200, null])
      assert.ok(Buffer.from(sent.body).toString().startsWith(beginning))
      await until(() => receiver.open() === 0)
    })

  for (const [what, answer, status] of [
    ['the same Content-Length twice', ok('Content-Length: 2\r\nContent-Length: 2'), 200],
    ['two lengths that differ', ok('Content-Length: 2\r\nContent-Length: 3'), 200],
    ['a length beside chunks', ok('Content-Length: 2\r\nTransfer-Encoding: chunked'), 200],
    ['lines that end with LF only', ok('Content-Length: 2').replaceAll('\r\n', '\n'), 200],
    ['a line without a colon', ok('this is no header'), 200],
    ['a name with a blank', ok('bad name: x'), 200],
    ['a length that is no number', ok('Content-Length: two'), 200],
    ['no reason phrase', 'HTTP/1.1 204\r\nbad name: x\r\n\r\n', 204],
    ['an error', 'HTTP/1.0 503 Busy\r\nthis is no header\r\n\r\n', 503],
  ] as const)
    it(`has the status of a head with ${what}, also in pieces`, async () => {
      const inPieces: Behaviour = (socket) => {
        for (const [at, piece] of [answer.slice(0, 5), answer.slice(5, 14), answer.slice(14)].entries())
          setTimeout(() => socket.write(piece), 20 * at)
      }
      for (const behaviour of [inPieces, (socket) => void socket.write(answer)] satisfies Behaviour[]) {
        const sent = await meet(behaviour, 3000)
        assert.deepEqual([sent.status, sent.error], [status, null])
      }
      await until(() => receiver.open() === 0)
    })

  for (const [what, text] of Object.entries(ODD_HEADS))
    it(`has the headers and the body of an answer ${what}`, async () => {
      for (const size of [text.length, 7]) {
        const { status, headers, body, error } = await meet(writes(text, size), 3000)
        assert.deepEqual(
          [status, headers['x-two'], Buffer.from(body).toString(), error],
          [200, 'b', 'ok', null],
        )
      }
    })

  const endless: readonly (readonly [string, Behaviour, string])[] = [
    ['a body of 1 GB', receivers.answersHugely(200, 1_000_000_000), 'x'],
    ['chunks without end', receivers.answersInEndlessChunks(200), 'x'],
    ['headers without end', receivers.floodsHeaders, ''],
    ['trailers without end', receivers.floodsTrailers, ''],
    ['a bomb of gzip', receivers.answersWithBomb(200), '\x1f\x8b'],
  ]
  for (const [what, behaviour, beginning] of endless)
    it(`reads little of ${what}, and keeps less`, async () => {
      const { status, error, body } = await meet(behaviour)
      assert.deepEqual([status, error], [200, null])
      assert.ok(body.length <= 16_384)
      assert.ok(Buffer.from(body).toString('latin1').startsWith(beginning))
      await until(() => sockets.every(({ destroyed }) => destroyed))
      assert.ok(sockets[0]!.bytesRead <= 3 * 65_536, `${sockets[0]!.bytesRead} bytes`)
      await until(() => receiver.open() === 0)
    })

  it('keeps the first 16 KiB of a body and reads on to 64, so that the connection can be used again', async () => {
    for (const length of [16_384, 16_385, 65_535])
      assert.equal((await meet(receivers.answers(200, {}, 'x'.repeat(length)))).body.length, 16_384)
    assert.equal(receiver.connections(), 1)
  })

  it('waits for a slow answer', async () => {
    assert.equal((await meet(receivers.after(50, receivers.answers(200)))).status, 200)
  })

  it('has its answer where the receiver changes the protocol', async () => {
    const { status, error } = await meet(receivers.answers(101, { connection: 'upgrade', upgrade: 'x' }))
    assert.deepEqual([status, error], [101, null])
    await until(() => receiver.open() === 0)
  })

  it('ends when its caller says so, before and after the message left', async () => {
    assert.deepEqual((await send({ signal: AbortSignal.abort() })).error, { kind: 'aborted' })
    assert.equal(receiver.connections(), 0)
    const stopping = new AbortController()
    receiver.behave(() => stopping.abort())
    const { error, bodySent } = await send({ signal: stopping.signal })
    assert.deepEqual([error, bodySent], [{ kind: 'aborted' }, true])
    await until(() => receiver.open() === 0)
  })

  it('ends all at once where they have one signal, and nobody is warned of anything', async () => {
    const warnings: Error[] = []
    const warned = (warning: Error) => void warnings.push(warning)
    process.on('warning', warned)
    const stopping = new AbortController()
    receiver.behave(receivers.hangs)
    const sends = Array.from({ length: 50 }, () => send({ signal: stopping.signal }))
    await until(() => receiver.received.length === 50)
    stopping.abort()
    for (const { error } of await Promise.all(sends)) assert.deepEqual(error, { kind: 'aborted' })
    await until(() => receiver.open() === 0)
    process.off('warning', warned)
    assert.deepEqual(warnings, [])
  })

  it('gives each step its own time', async () => {
    const names = await startNameServer()
    names.answer('silent.test', 'silence')
    const usual = { dns: 5000, connect: 5000, tls: 5000, head: 5000 }
    const ofSlow = (phase: keyof typeof usual, options: WebhookSenderOptions, url?: string) => {
      open({ names: { servers: [names.address] }, limits: { ...usual, [phase]: 1000 }, ...options })
      return send(url === undefined ? {} : { url })
    }
    receiver.behave(receivers.hangs)
    const never: Dial = () => new Socket()
    const slow = {
      dns: await ofSlow('dns', {}, 'http://silent.test/'),
      connect: await ofSlow('connect', { dial: never }),
      tls: await ofSlow('tls', {}, receiver.url.replace('http:', 'https:')),
      head: await ofSlow('head', {}),
    }
    for (const [phase, { error }] of Object.entries(slow)) assert.deepEqual(error, { kind: 'timeout', phase })
    assert.deepEqual(
      Object.values(slow).map(({ bodySent }) => bodySent),
      [false, false, false, true],
    )
    await names.stop()
  })

  it('says why there was no connection', async () => {
    const names = await startNameServer()
    names.answer('broken.test', 'SERVFAIL')
    names.answer('four.test', ['127.0.0.1'])
    open({ names: { servers: [names.address] } })
    const port = receiver.port
    await receiver.stop()
    assert.deepEqual((await send()).error, { kind: 'connect', code: 'ECONNREFUSED' })
    assert.deepEqual((await send({ url: `http://four.test:${port}/` })).error, {
      kind: 'connect',
      code: 'ECONNREFUSED',
    })
    assert.deepEqual((await send({ url: 'http://unknown.test/' })).error, { kind: 'dns', code: 'ENOTFOUND' })
    assert.deepEqual((await send({ url: 'http://broken.test/' })).error, { kind: 'dns', code: 'ESERVFAIL' })
    await names.stop()
    receiver = await startReceiver(receivers.answers(200))
  })

  it('never throws, whatever it is given', async () => {
    const bad = { url: receiver.url, headers: { 'x-a': 'b\r\nc' }, body: BODY, timeoutMs: 1000 }
    assert.deepEqual((await sender.send(bad)).error, { kind: 'protocol', code: 'ERR_INVALID_CHAR' })
    const name = { ...bad, headers: { 'a b': 'c' } }
    assert.deepEqual((await sender.send(name)).error, { kind: 'protocol', code: 'ERR_INVALID_HTTP_TOKEN' })
    assert.equal(receiver.received.length, 0)
  })

  it('uses a connection again, and trusts none again that was closed under a message', async () => {
    receiver.behave(
      receivers.inTurn(
        receivers.answers(200),
        receivers.answers(200),
        receivers.resets,
        receivers.answers(200),
      ),
    )
    await send()
    await send()
    assert.equal(receiver.connections(), 1)
    assert.deepEqual((await send()).error, { kind: 'reset', code: 'ECONNRESET' })
    await send()
    await send()
    await send()
    assert.equal(receiver.connections(), 4)
  })

  it('takes no answer that was there before the message', async () => {
    const forged = 'HTTP/1.1 299 Forged\r\ncontent-length: 0\r\n\r\n'
    const answered = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
    receiver.behave((socket) => socket.write(answered, () => setTimeout(() => socket.write(forged), 20)))
    await send()
    await until(() => sockets[0]!.destroyed || sockets[0]!.bytesRead === answered.length + forged.length)
    receiver.behave(receivers.answers(201))
    assert.equal((await send()).status, 201)
  })

  it('always ends, and leaves nothing open, whatever a receiver does and whenever its caller stops', async () => {
    const behaviours = [
      receivers.answers(200, {}, 'x'.repeat(5000)),
      receivers.answersAndCloses(500),
      receivers.answersHugely(200, 10_000_000),
      receivers.closes,
      receivers.resets,
      receivers.resetsInBody(200),
      receivers.hangs,
      receivers.hangsInBody(200),
      receivers.drips(200, 5),
      receivers.answersGarbage,
      receivers.floodsHeaders,
      receivers.floodsTrailers,
    ]
    const any = (most: number) => Math.floor(Math.random() * most)
    receiver.behave(receivers.dependingOn(() => behaviours[any(behaviours.length)]!))
    const oneAfterAnother = async () => {
      for (let at = 0; at < SENDS_EACH; at += 1) {
        const stopping = new AbortController()
        const timer = setTimeout(() => stopping.abort(), any(200))
        const { status, error } = await send({ signal: stopping.signal, timeoutMs: 1 + any(100) })
        clearTimeout(timer)
        assert.equal(status === null, error !== null)
      }
    }
    await Promise.all(Array.from({ length: 20 }, oneAfterAnother))
    sender.close()
    await until(() => receiver.open() === 0 && sockets.every(({ destroyed }) => destroyed))
  })

  it('sends many at the same time, each on its own', async () => {
    receiver.behave((socket, received) => receivers.answers(200, {}, received.body)(socket, received))
    const bodies = Array.from({ length: 200 }, (_, at) => Buffer.from(`{"at":${at}}`))
    const sent = await Promise.all(bodies.map((body) => send({ body })))
    assert.deepEqual(
      sent.map(({ body }) => Buffer.from(body)),
      bodies,
    )
  })
})
