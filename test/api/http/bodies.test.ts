import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { aStart } from '../../support/call-requests.js'
import type { Detail } from '../calls/given.js'
import { endpointsOf, type Endpoint } from './endpoints.js'
import { JSON_TYPE, sendBytes } from './raw.js'

const CANARY = 'CANARY-77aa1'

interface Kind {
  readonly name: string
  readonly body: Uint8Array
  readonly headers?: Record<string, string>
  readonly type: string
}

const OF_PROVIDERS = /^\/v1\/(responses|messages|completions|embeddings|moderations|rerank)(\/|$)/

/** These ignore keys that they do not know, as the servers of the field do. */
const isTolerant = (template: string): boolean =>
  template === '/v1/chat/completions' ||
  OF_PROVIDERS.test(template) ||
  /^\/v1\/(preview\/(models|training-jobs$|sft))/.test(template) ||
  /^\/evaluations\/(rescore|evaluate_model)$/.test(template) ||
  (template.startsWith('/v2/') && !/\/call\/(start|end)$/.test(template))

/** What endpoints without required fields answer to any object. */
const statusOfAnyObject = (template: string): number => {
  if (template === '/v2/{entity}/{project}/ops') return 200
  return /^\/v2\/.*\/(evaluation_runs|predictions)\/.*\/finish$|\/file_stream$/.test(template) ? 404 : 422
}

const bytes = (text: string): Uint8Array => Buffer.from(text)

const plain = (name: string, text: string, type: string): Kind => ({ name, body: bytes(text), type })

const kinds: readonly Kind[] = [
  plain('nothing', '', 'missing'),
  plain('blanks', ' \n', 'json_invalid'),
  plain('a byte order mark alone', '\ufeff', 'missing'),
  plain('half an object', `{"${CANARY}": "${CANARY}`, 'json_invalid'),
  plain('a bare word', `{"start": ${CANARY}}`, 'json_invalid'),
  plain('a bare word that looks like a position', `{"a": position 424242}`, 'json_invalid'),
  plain('a trailing comma', `{"a": "${CANARY}",}`, 'json_invalid'),
  plain('two values', `{"a": "${CANARY}"} {}`, 'json_invalid'),
  plain('single quotes', `{'${CANARY}': 1}`, 'json_invalid'),
  plain('a comment', `{/* ${CANARY} */}`, 'json_invalid'),
  plain('a constant of another language', '{"a": nan}', 'json_invalid'),
  plain('a control character in a string', `{"a": "${CANARY}\u0000"}`, 'json_invalid'),
  plain('a bad escape', `{"a": "${CANARY}\\x41"}`, 'json_invalid'),
  plain('an unfinished surrogate escape', `{"a": "${CANARY}\\ud83"}`, 'json_invalid'),
  plain('only opening brackets', '['.repeat(100_000), 'json_invalid'),
  plain('null', 'null', 'model_attributes_type'),
  plain('a list', `["${CANARY}"]`, 'model_attributes_type'),
  plain('a text', `"${CANARY}"`, 'model_attributes_type'),
  plain('a number', '7919', 'model_attributes_type'),
  plain('true', 'true', 'model_attributes_type'),
  { name: 'UTF-16', body: Buffer.from(`{"a": "${CANARY}"}`, 'utf16le'), type: 'json_invalid' },
  { name: 'bytes that are no text', body: Buffer.from([0xff, 0xfe, 0x80, 0x81]), type: 'json_invalid' },
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'json',
    '',
  ].map((type): Kind => ({
    name: `JSON called ${JSON.stringify(type)}`,
    body: bytes(`{"a": "${CANARY}"}`),
    headers: { 'content-type': type },
    type: 'model_attributes_type',
  })),
]

/** As OpenAI's API, whose clients use these endpoints. */
const invalidAt = (path: string): number =>
  path.startsWith('/v1/fine_tuning/') || OF_PROVIDERS.test(path) ? 400 : 422

const isAnthropic = (path: string): boolean => path.startsWith('/v1/messages')

describe('a body that is not what an endpoint takes', () => {
  let service: TestService
  let endpoints: readonly Endpoint[]
  before(async () => {
    service = await sharedService()
    endpoints = (await endpointsOf(service, 'default/project')).filter(({ takesJson }) => takesJson)
  })

  it('can be sent to many endpoints', () => assert.ok(endpoints.length >= 15))

  for (const { name, body, headers = JSON_TYPE, type } of kinds)
    it(`is a 422 everywhere: ${name}`, async () => {
      for (const { method, path } of endpoints) {
        const answer = await sendBytes(service, path, body, headers, method)
        if (path === '/api/sessions' && body.length > 65_536) {
          assert.equal(answer.status, 413)
          continue
        }
        assert.equal(answer.status, invalidAt(path), `${path}: ${answer.text.slice(0, 100)}`)
        assert.equal(/CANARY|7919|4242/.test(answer.text), false, path)
        if (isAnthropic(path)) continue
        const { detail } = JSON.parse(answer.text) as { detail: readonly Detail[] }
        const [first] = detail
        assert.deepEqual([first?.type, first?.loc[0]], [type, 'body'], path)
      }
      assert.equal(JSON.stringify(service.logged).includes(CANARY), false)
    })

  it('is a 422 everywhere: an envelope with a key too many', async () => {
    for (const { method, path, template } of endpoints) {
      const answer = await sendBytes(service, path, bytes('{"unknown_key": 1}'), JSON_TYPE, method)
      const expected = statusOfAnyObject(template)
      assert.equal(answer.status, expected === 422 ? invalidAt(path) : expected, path)
      if (expected !== 422 || isAnthropic(path)) continue
      const { detail } = JSON.parse(answer.text) as { detail: readonly Detail[] }
      const refused = detail.some(
        ({ loc, type }) => type === 'extra_forbidden' && loc.join('.') === 'body.unknown_key',
      )
      assert.equal(refused, !isTolerant(template), path)
    }
  })

  it('is a 422 everywhere: keys of the prototype', async () => {
    const body = bytes('{"__proto__": {"project_id": "a/b"}, "constructor": 1, "hasOwnProperty": 2}')
    for (const { method, path, template } of endpoints) {
      const { status } = await sendBytes(service, path, body, JSON_TYPE, method)
      const expected = statusOfAnyObject(template)
      assert.equal(status, expected === 422 ? invalidAt(path) : expected, path)
    }
  })

  it('has its problem told at the byte where JSON ends, where that is known', async () => {
    const answer = await sendBytes(service, '/call/start', bytes('{"a": 1 "b": 2}'), JSON_TYPE)
    assert.match(answer.text, /"loc":\["body",8\]/)
  })
})

describe('a JSON body', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const types: readonly (Record<string, string> | undefined)[] = [
    undefined,
    { 'content-type': 'application/json' },
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'APPLICATION/JSON' },
    { 'content-type': 'application/vnd.api+json' },
  ]
  for (const headers of types)
    it(`may be called ${headers?.['content-type'] ?? 'nothing'}`, async () => {
      const body = bytes(JSON.stringify({ start: aStart(someProject()) }))
      assert.equal((await sendBytes(service, '/call/start', body, headers ?? {})).status, 200)
    })

  it('may begin with a byte order mark and have blanks around', async () => {
    const body = bytes(`\ufeff\r\n\t ${JSON.stringify({ start: aStart(someProject()) })} \n`)
    assert.equal((await sendBytes(service, '/call/start', body, JSON_TYPE)).status, 200)
  })

  it('has U+FFFD where its bytes are not UTF-8', async () => {
    const project = someProject()
    const text = JSON.stringify({ start: aStart(project, { id: 'broken', inputs: { a: '<>' } }) })
    const [head, tail] = text.split('<>') as [string, string]
    const body = Buffer.concat([bytes(head), Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80]), bytes(tail)])
    assert.equal((await sendBytes(service, '/call/start', body, JSON_TYPE)).status, 200)
    const { call } = JSON.parse(
      (await service.post('/call/read', { project_id: project, id: 'broken' })).text,
    )
    assert.equal(call.inputs.a, '\ufffd(\ufffd\ufffd\ufffd')
  })

  it('says what the last of several equal keys says', async () => {
    const project = someProject()
    const start = JSON.stringify(aStart(project, { id: 'twice' })).replace(
      '"op_name"',
      '"op_name":7,"op_name"',
    )
    const body = bytes(`{"start": "no", "start": ${start}}`)
    assert.equal((await sendBytes(service, '/call/start', body, JSON_TYPE)).status, 200)
  })
})
