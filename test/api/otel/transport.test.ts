import assert from 'node:assert/strict'
import zlib from 'node:zlib'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import {
  attributesOf,
  callOf,
  inProtobuf,
  requestOf,
  requestOfBytes,
  someSpan,
  spanInProtobuf,
} from '../../support/otlp.js'
import type { TestService } from '../../support/service.js'
import { JSON_TYPE, sendBytes, type RawAnswer } from '../http/raw.js'
import { sharedService, someProject } from '../shared-service.js'

const PROTOBUF_TYPE = { 'content-type': 'application/x-protobuf' }
const LIMIT = 67_108_864

describe('the transport of OTLP/HTTP', () => {
  let service: TestService
  let project: string
  before(async () => (service = await sharedService()))
  beforeEach(() => (project = someProject()))

  const send = (body: Uint8Array, headers: Record<string, string>): Promise<RawAnswer> =>
    sendBytes(service, `/v2/${project}/otel/v1/traces`, body, headers)

  const sendJson = (body: unknown): Promise<RawAnswer> => send(Buffer.from(JSON.stringify(body)), JSON_TYPE)

  const read = (span: JsonObject) => service.in(project).calls.read(callOf(span))

  const recorded = async (): Promise<number> =>
    (await service.in(project).calls.query({ limit: 1000 }).json()).calls.length

  const encoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
    gzip: (body) => zlib.gzipSync(body),
    deflate: (body) => zlib.deflateSync(body),
    br: (body) => zlib.brotliCompressSync(body),
    identity: (body) => body,
  }
  for (const [encoding, encode] of Object.entries(encoders))
    for (const type of ['application/json', 'application/json; charset=utf-8', 'application/x-protobuf'])
      it(`accepts ${type} in ${encoding}`, async () => {
        const [span, isJson] = [someSpan(), type.startsWith('application/json')]
        const request = requestOf([span])
        const body = isJson ? Buffer.from(JSON.stringify(request)) : inProtobuf(request)
        const answer = await send(encode(body), { 'content-type': type, 'content-encoding': encoding })
        assert.equal(answer.status, 200)
        assert.equal(answer.text, isJson ? '{}' : '')
        assert.equal(answer.headers['content-type']?.split(';')[0], type.split(';')[0])
        assert.notEqual(await read(span), null)
      })

  it('answers an empty request with success', async () => {
    assert.equal((await send(Buffer.alloc(0), PROTOBUF_TYPE)).status, 200)
    assert.equal((await sendJson({})).status, 200)
  })

  it('records the neighbours of spans with bad ids, and names the places of these', async () => {
    const spans = Array.from({ length: 512 }, (_, at) =>
      someSpan(at === 100 ? { spanId: '' } : at === 300 ? { traceId: 'aabbcc' } : {}),
    )
    const { partialSuccess } = JSON.parse((await sendJson(requestOf(spans))).text) as {
      partialSuccess: { rejectedSpans: string; errorMessage: string }
    }
    assert.equal(partialSuccess.rejectedSpans, '2')
    assert.match(partialSuccess.errorMessage, /spans\[100\]: .*spans\[300\]: /)
    assert.equal(await recorded(), 510)
  })

  it('rejects logs and names them in the reason', async () => {
    const record = { timeUnixNano: '1700000000000000000', body: { stringValue: 'line' } }
    const asLogs = await sendJson({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] })
    assert.equal(asLogs.status, 400)
    assert.match(asLogs.text, /logs/)
    const inBytes = new BinaryWriter().tag(1, WireType.Bit64).fixed64('1700000000000000000').finish()
    const asSpans = await send(requestOfBytes([inBytes]), PROTOBUF_TYPE)
    assert.equal(asSpans.status, 200)
    assert.match(asSpans.text, /log record/)
    assert.equal(await recorded(), 0)
  })

  it('reads attributes that are an object', async () => {
    const [odd, neighbour] = [someSpan({ attributes: { 'input.value': 'text' } }), someSpan()]
    assert.equal((await sendJson(requestOf([odd, neighbour]))).text, '{}')
    assert.equal((await read(odd)).otel_dump.attributes['input.value'], 'text')
    assert.notEqual(await read(neighbour), null)
  })

  it('replaces invalid UTF-8 and lone surrogates', async () => {
    const odd = someSpan({ name: 'REPLACED', attributes: attributesOf({ REPLACED: 'REPLACED' }) })
    const bytes = Buffer.from(Buffer.from(spanInProtobuf(odd)).toString('latin1').replaceAll('REPLACED', 'a\xff\xfe\xc3bcde'), 'latin1') // prettier-ignore
    const [neighbour, inJson] = [someSpan(), someSpan({ name: 'a\ud800' })]
    assert.equal((await send(requestOfBytes([bytes, spanInProtobuf(neighbour)]), PROTOBUF_TYPE)).text, '')
    assert.equal((await sendJson(requestOf([inJson]))).text, '{}')
    assert.equal((await read(odd)).op_name, 'a\ufffd\ufffd\ufffdbcde')
    assert.equal((await read(inJson)).op_name, 'a\ufffd')
    assert.notEqual(await read(neighbour), null)
  })

  it('rejects a span with 20,000 nested arrays, and no other', async () => {
    const arrays = 20_000
    const neighbour = someSpan()
    const text = `${'{"arrayValue":{"values":['.repeat(arrays)}${']}}'.repeat(arrays)}`
    const deep = JSON.stringify(someSpan({ attributes: [{ key: 'deep', value: 0 }] })).replace(
      '"value":0',
      `"value":${text}`,
    )
    const body = JSON.stringify(requestOf([{ at: 'DEEP' }, neighbour])).replace('{"at":"DEEP"}', deep)
    const inJson = await send(Buffer.from(body), JSON_TYPE)
    assert.equal(inJson.status, 200, inJson.text.slice(0, 200))
    assert.match(inJson.text, /nested deeper/)
    assert.notEqual(await read(neighbour), null)

    let value = new Uint8Array()
    for (let level = 0; level < 2000; level += 1) {
      const list = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(value).finish()
      value = new BinaryWriter().tag(5, WireType.LengthDelimited).bytes(list).finish()
    }
    const pair = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(value).finish()
    const attribute = new BinaryWriter().tag(9, WireType.LengthDelimited).bytes(pair).finish()
    const other = someSpan()
    const spans = [Buffer.concat([spanInProtobuf(someSpan()), attribute]), spanInProtobuf(other)]
    assert.match((await send(requestOfBytes(spans), PROTOBUF_TYPE)).text, /nested deeper/)
    assert.notEqual(await read(other), null)
  })

  it('records a prompt of 5 MiB whole', async () => {
    const prompt = 'long '.repeat(1_048_576)
    const span = someSpan({ attributes: attributesOf({ 'input.value': prompt }) })
    assert.equal((await send(inProtobuf(requestOf([span])), PROTOBUF_TYPE)).text, '')
    assert.ok(JSON.stringify((await read(span)).inputs).includes(prompt))
  })

  it('refuses what is larger than 64 MiB, compressed or not', async () => {
    const large = Buffer.alloc(LIMIT + 1_048_576)
    for (const [body, headers] of [
      [large, {}],
      [zlib.gzipSync(large), { 'content-encoding': 'gzip' }],
    ] as const) {
      const answer = await send(body, { ...JSON_TYPE, ...headers })
      assert.equal(answer.status, 413)
      assert.match(answer.text, /67108864/)
    }
  })

  const field = (number: number, body: Uint8Array): Buffer =>
    Buffer.from(new BinaryWriter().tag(number, WireType.LengthDelimited).bytes(body).finish())

  /** Empty messages of one field: two bytes each. */
  const empty = (number: number, count: number): Buffer =>
    Buffer.alloc(2 * count, field(number, Buffer.alloc(0)))

  for (const [elements, body] of [
    ['resources', empty(1, 100_001)],
    ['scopes', field(1, empty(2, 100_001))],
    ['spans', field(1, field(2, empty(2, 100_001)))],
    ['values', requestOfBytes([field(9, field(2, field(5, empty(1, 4_000_001))))])],
  ] as const)
    it(`refuses a request with too many ${elements}`, async () => {
      const answer = await send(body, PROTOBUF_TYPE)
      assert.equal(answer.status, 413)
      assert.match(answer.text, new RegExp(`more than \\d+ ${elements}`))
    })

  it('refuses a request in JSON with too many spans', async () => {
    const spans = Array.from({ length: 100_001 }, () => ({}))
    assert.equal((await sendJson(requestOf(spans))).status, 413)
  })

  it('rejects a span with too many attributes, events or links, and no other', async () => {
    const neighbour = someSpan()
    for (const part of [9, 11, 13]) {
      const large = Buffer.concat([spanInProtobuf(someSpan()), empty(part, 32_769)])
      const answer = await send(requestOfBytes([large, spanInProtobuf(neighbour)]), PROTOBUF_TYPE)
      assert.match(answer.text, /spans\[0\]: it has more than 32768 attributes, events and links/)
    }
    for (const name of ['attributes', 'events', 'links']) {
      const large = someSpan({ [name]: Array.from({ length: 32_769 }, () => ({})) })
      assert.match((await sendJson(requestOf([large, neighbour]))).text, /spans\[0\]: it has more than 32768/)
    }
    assert.equal(await recorded(), 1)
  })

  it('refuses a request whose resource would be recorded too often', async () => {
    const spans = Array.from({ length: 200 }, () => someSpan())
    const answer = await sendJson(requestOf(spans, { large: 'a'.repeat(1_048_576) }))
    assert.equal(answer.status, 413)
    assert.match(answer.text, /resources and scopes/)
  })

  it('takes ids in upper and lower case as the same', async () => {
    const span = someSpan()
    const upper = { ...span, traceId: (span['traceId'] as string).toUpperCase(), spanId: (span['spanId'] as string).toUpperCase() } // prettier-ignore
    assert.equal((await sendJson(requestOf([upper]))).text, '{}')
    assert.equal((await sendJson(requestOf([span]))).text, '{}')
    assert.equal(await recorded(), 1)
    assert.notEqual(await read(span), null)
  })

  it('rejects ids in base64, and asks for hex', async () => {
    const span = someSpan({ traceId: Buffer.alloc(16, 1).toString('base64') })
    assert.match((await sendJson(requestOf([span, someSpan()]))).text, /hex/)
    assert.equal(await recorded(), 1)
  })

  for (const path of ['/v1/metrics', '/v1/logs', '/otel/v1/metrics', '/otel/v1/logs'])
    it(`accepts what exporters of metrics and logs send to ${path}`, async () => {
      const answer = await sendBytes(service, path, Buffer.from('any'), PROTOBUF_TYPE)
      assert.deepEqual([answer.status, answer.text], [200, ''])
    })

  it('refuses another content type and another encoding', async () => {
    assert.equal((await send(Buffer.alloc(0), { 'content-type': 'text/plain' })).status, 415)
    assert.equal((await send(Buffer.alloc(0), { ...JSON_TYPE, 'content-encoding': 'zstd' })).status, 415)
    assert.equal((await send(Buffer.from('{'), JSON_TYPE)).status, 400)
    assert.equal((await send(Buffer.from('{}'), PROTOBUF_TYPE)).status, 400)
  })
})
