import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import zlib from 'node:zlib'
import { Failure } from '../../../src/application/failure.js'
import { MAX_BODY_BYTES, readJson } from '../../../src/api/server/read-json.js'
import { MemoryAccount } from '../../../src/kernel/memory-account.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { aStart } from '../../support/call-requests.js'
import { JSON_TYPE, sendBytes, type RawAnswer } from './raw.js'
import { COUNTS, itInFull } from '../../counts.js'

const BOMB_BYTES = COUNTS.decompressionBombBytes

const encoders = {
  gzip: (body: Uint8Array) => zlib.gzipSync(body),
  deflate: (body: Uint8Array) => zlib.deflateSync(body),
  'deflate without a zlib header': (body: Uint8Array) => zlib.deflateRawSync(body),
  br: (body: Uint8Array) =>
    zlib.brotliCompressSync(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } }),
} as const

const send = (service: TestService, encoding: string, body: Uint8Array): Promise<RawAnswer> =>
  sendBytes(service, '/call/start', body, {
    ...JSON_TYPE,
    'content-encoding': encoding.replace(' without a zlib header', ''),
  })

const startBody = (): Buffer => Buffer.from(JSON.stringify({ start: aStart(someProject()) }))

for (const [encoding, encode] of Object.entries(encoders))
  describe(`a body in ${encoding}`, () => {
    let service: TestService
    before(async () => (service = await sharedService()))

    it('is read', async () => assert.equal((await send(service, encoding, encode(startBody()))).status, 200))

    it('is a 422 when what is in it is not valid', async () => {
      for (const [text, type] of [
        ['', 'missing'],
        ['{', 'json_invalid'],
        ['[]', 'model_attributes_type'],
      ] as const) {
        const answer = await send(service, encoding, encode(Buffer.from(text)))
        assert.equal(answer.status, 422)
        assert.ok(answer.text.includes(`"type":"${type}"`), answer.text)
      }
    })

    // The same each time: one kind has no checksum, so that other bytes might make a body of it.
    const whole = encode(Buffer.from(JSON.stringify({ start: aStart('default/compressed', { id: 'c' }) })))
    const corrupt: Readonly<Record<string, Uint8Array>> = {
      'not in it at all': startBody(),
      empty: Buffer.alloc(0),
      'cut short': whole.subarray(0, whole.length - 9),
      'changed in the middle': Buffer.concat([
        whole.subarray(0, 15),
        Buffer.alloc(20, 7),
        whole.subarray(35),
      ]),
    }
    for (const [name, body] of Object.entries(corrupt))
      it(`is a 400 when it is ${name}`, async () => {
        const answer = await send(service, encoding, body)
        assert.equal(answer.status, 400)
        assert.match(answer.text, /Content-Encoding/)
      })

    // All encodings share the code that counts.
    const itOnce = encoding === 'gzip' ? it : itInFull
    itOnce('may be as large as the limit, and no larger, once it is in clear', async () => {
      const fits = Buffer.concat([startBody()], MAX_BODY_BYTES).fill(' ', startBody().length)
      assert.equal((await send(service, encoding, encode(fits))).status, 200)
      const tooLarge = Buffer.concat([fits, Buffer.from(' ')])
      const answer = await send(service, encoding, encode(tooLarge))
      assert.equal(answer.status, 413)
      assert.match(answer.text, /33554432 bytes/)
    })

    itOnce('that is a bomb is not inflated to its end', async () => {
      const bomb = encode(Buffer.alloc(BOMB_BYTES, ' '))
      global.gc?.()
      const before = process.memoryUsage()
      const answers = await Promise.all([1, 2, 3].map(() => send(service, encoding, bomb)))
      const after = process.memoryUsage()
      assert.deepEqual(
        answers.map(({ status }) => status),
        [413, 413, 413],
      )
      assert.ok(after.arrayBuffers - before.arrayBuffers < 1.25 * BOMB_BYTES)
      assert.equal((await send(service, encoding, encode(startBody()))).status, 200)
    })
  })

describe('a Content-Encoding', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  for (const encoding of ['identity', 'Identity', ''])
    it(`of ${JSON.stringify(encoding)} is none`, async () =>
      assert.equal((await send(service, encoding, startBody())).status, 200))

  for (const encoding of ['GZIP', ' gzip ', 'x-gzip'])
    it(`of ${JSON.stringify(encoding)} is gzip`, async () =>
      assert.equal((await send(service, encoding, zlib.gzipSync(startBody()))).status, 200))

  for (const encoding of ['zstd', 'gzip, br', 'gzip, gzip', 'compress', 'aws-chunked', '*', 'constructor'])
    it(`of ${JSON.stringify(encoding)} is not known`, async () => {
      const answer = await send(service, encoding, zlib.gzipSync(startBody()))
      assert.deepEqual([answer.status, answer.headers['accept-encoding']], [415, 'gzip, deflate, br'])
      assert.match(answer.text, /gzip, deflate or br/)
    })
})

describe('a body that breaks off', () => {
  /** What becomes of reading a body whose sender goes away in the middle. */
  const brokenOff = async (head: string, body: Uint8Array): Promise<unknown> => {
    const server = createServer()
    const outcome = new Promise((resolve) =>
      server.on('request', (request) => {
        // Node tells of a broken request only where somebody listens.
        request.on('error', () => undefined)
        readJson(request, new MemoryAccount(Infinity).lease('')).then(resolve, resolve)
        request.once('data', () => setImmediate(() => socket.destroy()))
      }),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1', () => {
      socket.write(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n${head}\r\n`,
      )
      socket.write(body)
    })
    socket.on('error', () => undefined)
    try {
      return await outcome
    } finally {
      server.close()
    }
  }

  const whole = zlib.gzipSync(Buffer.from(JSON.stringify({ a: Array.from({ length: 2000 }, Math.random) })))
  for (const [name, head, body] of [
    ['in clear', '', Buffer.from('{"a": 1')],
    ['compressed', 'Content-Encoding: gzip\r\n', whole.subarray(0, 500)],
    ['compressed, before anything could be read of it', 'Content-Encoding: gzip\r\n', whole.subarray(0, 4)],
  ] as const)
    it(`is given up: ${name}`, async () => {
      const error = await brokenOff(head, body)
      assert.ok(error instanceof Failure && error.kind === 'bad-request', String(error))
    })
})
