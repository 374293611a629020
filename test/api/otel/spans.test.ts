import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { attributesOf, callOf, hexId, requestOf, someSpan, type OtlpRequest } from '../../support/otlp.js'
import type { TestService } from '../../support/service.js'
import { JSON_TYPE, sendBytes } from '../http/raw.js'
import { sharedService, someProject } from '../shared-service.js'

const llm = (input: string | JsonObject, more: Readonly<Record<string, string>> = {}) =>
  attributesOf({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.usage.input_tokens': input,
    ...more,
  })

describe('spans', () => {
  let service: TestService
  let project: string
  before(async () => (service = await sharedService()))
  beforeEach(() => (project = someProject()))

  const send = (request: OtlpRequest) => service.post(`/v2/${project}/otel/v1/traces`, request)

  const sent = async (...spans: readonly JsonObject[]): Promise<string> => {
    const { status, text } = await send(requestOf(spans))
    assert.equal(status, 200, text)
    return text
  }

  const read = (span: JsonObject) => service.in(project).calls.read(callOf(span))

  const callsOf = async (of = project) => (await service.in(of).calls.query({ limit: 1000 }).json()).calls

  const usageOf = async (span: JsonObject, of = project): Promise<Record<string, number> | undefined> => {
    const { call_usage: usage } = await service.in(of).usage.ofTraces().json()
    return Object.values((usage as Record<string, object>)[callOf(span)] ?? {})[0] as Record<string, number>
  }

  for (const [form, value, tokens] of [
    ['a text', '120', 120],
    ['a double', { doubleValue: 120 }, 120],
    ['an integer in a text', { intValue: '120' }, 120],
    ['an integer in a number', { intValue: 120 }, 120],
    ['no number', 'abc', 0],
  ] as const)
    it(`reads usage that is ${form}`, async () => {
      const span = someSpan({ attributes: llm(value) })
      assert.equal(await sent(span), '{}')
      assert.equal((await usageOf(span))?.['prompt_tokens'] ?? 0, tokens)
      assert.notEqual(await read(span), null)
    })

  it('keeps a key that begins with another key', async () => {
    const names = { 'deployment.environment': 'a', 'deployment.environment.name': 'b' }
    const span = someSpan({ attributes: attributesOf({ a: '1', 'a.b': '2' }) })
    assert.equal((await send(requestOf([span], names))).text, '{}')
    const { otel_dump: dump } = await read(span)
    assert.deepEqual(dump.attributes, { a: '1', 'a.b': '2' })
    assert.deepEqual(dump.resource.attributes, names)
  })

  it('are recorded and counted once when a request is repeated', async () => {
    const span = someSpan({ attributes: llm({ intValue: 120 }) })
    for (let time = 0; time < 5; time += 1) assert.equal(await sent(span), '{}')
    const [other, at] = [someSpan({ attributes: llm({ intValue: 7 }) }), requestOf]
    const answers = await Promise.all([send(at([other])), send(at([other])), send(at([other]))])
    for (const { status, text } of answers) assert.deepEqual([status, text], [200, '{}'])
    assert.equal((await callsOf()).length, 2)
    assert.equal((await usageOf(span))?.['prompt_tokens'], 120)
    assert.equal((await usageOf(other))?.['prompt_tokens'], 7)
    assert.equal((await usageOf(other))?.['requests'], 1)
  })

  it('form a tree when children come first, and orphans count once', async () => {
    const traceId = hexId(16)
    const root = someSpan({ traceId })
    const child = someSpan({ traceId, parentSpanId: root['spanId']!, attributes: llm({ intValue: 10 }) })
    const orphan = someSpan({ traceId, parentSpanId: hexId(8), attributes: llm({ intValue: 5 }) })
    await sent(child)
    await sent(orphan)
    await sent(root)
    assert.equal((await read(child)).parent_id, callOf(root))
    assert.equal((await usageOf(root))?.['prompt_tokens'], 10)
    assert.equal((await usageOf(orphan))?.['prompt_tokens'], 5)
  })

  it('run until they come with an end', async () => {
    const whole = someSpan({ attributes: llm({ intValue: 3 }) })
    await sent({ ...whole, endTimeUnixNano: '0', attributes: [] })
    assert.equal((await read(whole)).ended_at ?? null, null)
    await sent({ ...whole, endTimeUnixNano: '0', attributes: [] })
    assert.equal(await sent(whole), '{}')
    assert.match((await read(whole)).ended_at, /^2023-11-14T22:13:21/)
    assert.equal((await callsOf()).length, 1)
    assert.equal((await usageOf(whole))?.['prompt_tokens'], 3)
  })

  it('are recorded when a time is before 1970', async () => {
    const span = someSpan({ attributes: attributesOf({ 'langfuse.startTime': '1969-12-31T23:59:58.5Z' }) })
    assert.equal(await sent(span), '{}')
    assert.match((await read(span)).started_at, /^1970-01-01T00:00:00/)
  })

  it('keep their nanoseconds', async () => {
    const [first, second] = ['1700000000000000100', '1700000000000000400'].map((startTimeUnixNano) =>
      someSpan({ startTimeUnixNano }),
    )
    await sent(first!, second!)
    assert.equal((await read(first!)).otel_dump.start_time_unix_nano, '1700000000000000100')
    assert.equal((await read(second!)).otel_dump.start_time_unix_nano, '1700000000000000400')
  })

  it('of one trace id in two projects are two traces', async () => {
    const span = someSpan({ attributes: llm({ intValue: 4 }) })
    const [first, second] = [project, someProject()]
    await sent(span)
    project = second
    await sent(span)
    for (const of of [first, second]) {
      assert.equal((await callsOf(of)).length, 1)
      assert.equal((await usageOf(span, of))?.['prompt_tokens'], 4)
    }
  })

  it('of a project without access are rejected, and no others of their request', async () => {
    const team = project.split('/')[0]!
    await service.teams.create(team)
    const key = await service.teams.keyOf(team, `member-of-${team}`, 'member')
    const [own, foreign] = [someSpan(), someSpan()]
    const request: OtlpRequest = {
      resourceSpans: [
        ...requestOf([own], { 'wandb.entity': team, 'wandb.project': 'project' }).resourceSpans,
        ...requestOf([foreign], { 'wandb.entity': 'another', 'wandb.project': 'project' }).resourceSpans,
      ],
    }
    const answer = await service.post('/v1/traces', request, { key })
    assert.equal(answer.status, 200)
    const { partialSuccess } = answer.json<{ partialSuccess: Record<string, string> }>()
    assert.equal(partialSuccess['rejectedSpans'], '1')
    assert.match(partialSuccess['errorMessage']!, /resourceSpans\[1\].*another\/project not found/)
    assert.notEqual(await read(own), null)
  })

  it('of a header project without access are refused in the encoding of the request', async () => {
    const team = project.split('/')[0]!
    await service.teams.create(team)
    const authorization = `Bearer ${await service.teams.keyOf(team, `member-of-${team}`, 'member')}`
    const headers = { authorization, project_id: 'another/project' }
    const json = await sendBytes(service, '/v1/traces', Buffer.from('{}'), { ...headers, ...JSON_TYPE })
    assert.equal(json.status, 404)
    assert.equal((JSON.parse(json.text) as { code: number }).code, 5)
    const protobuf = { ...headers, 'content-type': 'application/x-protobuf' }
    const bytes = await sendBytes(service, '/v1/traces', Buffer.alloc(0), protobuf)
    assert.equal(bytes.status, 404)
    assert.equal(bytes.headers['content-type'], 'application/x-protobuf')
    assert.equal(bytes.text.slice(0, 3), '\x08\x05\x12')
  })

  it('of a cycle of parents, and below themselves, are counted once each', async () => {
    const [traceId, first, second] = [hexId(16), hexId(8), hexId(8)]
    const attributes = llm({ intValue: 10 })
    const below = someSpan({ traceId, spanId: first, parentSpanId: second, attributes })
    const above = someSpan({ traceId, spanId: second, parentSpanId: first, attributes })
    const own = hexId(8)
    const itself = someSpan({ spanId: own, parentSpanId: own, attributes })
    await sent(below, above, itself)
    const { call_usage: usage } = await service.in(project).usage.ofTraces().json()
    for (const span of [below, above, itself])
      assert.ok((usage as Record<string, object>)[callOf(span)] !== undefined)
    assert.equal((await usageOf(itself))?.['prompt_tokens'], 10)
  })

  it('of a project whose name is - are recorded in the default one', async () => {
    const [team] = project.split('/')
    const span = someSpan()
    const request = requestOf([span], { 'wandb.entity': team!, 'wandb.project': '-' })
    assert.equal((await service.post('/v1/traces', request)).text, '{}')
    project = `${team}/default`
    assert.notEqual(await read(span), null)
  })
})
