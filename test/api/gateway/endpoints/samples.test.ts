import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { APIS } from '../../../../src/domain/gateway/upstreams/apis.js'
import { COUNTS } from '../../../counts.js'
import { startGateway, type Completion, type Gateway } from '../../../support/upstreams/gateway.js'
import {
  EVENTS,
  finishOf,
  JSON_TYPE,
  partsOf,
  SAMPLES,
  sendingPieces,
  textOf,
  typesIn,
  valuesIn,
  type Sample,
} from '../../../support/upstreams/samples.js'
import { sharedService, someProject } from '../../shared-service.js'

type Recorded = Completion & { readonly op_name: string }

const pick = (value: JsonObject | undefined, like: JsonObject): JsonObject =>
  Object.fromEntries(Object.keys(like).map((name) => [name, value?.[name] ?? 0]))

const reasoningIn = (usage: JsonObject): Json | undefined => {
  const { output_tokens_details: details } = usage
  const { reasoning_tokens, thinking_tokens } = (details ?? {}) as JsonObject
  return reasoning_tokens ?? thinking_tokens
}

const CALLS = new Set(['function_call', 'tool_use', 'custom_tool_call'])

const assertRecord = ({ expected }: Sample, call: Recorded, model: string): void => {
  assert.equal(call.op_name, expected.op)
  const { exception, output, summary } = call
  assert.equal(summary.tallytree?.metering, expected.metering ?? (expected.status ? 'unknown' : 'reported'))
  if (expected.exception === undefined) assert.equal(exception, null)
  else assert.ok(exception?.includes(expected.exception), String(exception))
  const usage = summary.usage?.[model]
  const figures = { ...expected.usage, ...expected.usage_seen }
  assert.deepEqual(pick(usage, figures), figures)
  if (expected.cache_written_1h !== undefined)
    assert.deepEqual(usage?.['cache_creation'], { ephemeral_1h_input_tokens: expected.cache_written_1h })
  const parts = partsOf(output)
  const types = parts.map(({ type }) => type)
  if (expected.reasoning_tokens !== undefined)
    assert.equal(reasoningIn(output?.['usage'] as JsonObject), expected.reasoning_tokens)
  if (expected.text !== undefined) assert.equal(textOf(output), expected.text)
  if (expected.finish !== undefined) assert.equal(finishOf(output), expected.finish)
  if (expected.blocks !== undefined) assert.deepEqual(types, expected.blocks)
  if (expected.output_types !== undefined) assert.deepEqual(types, expected.output_types)
  if (expected.signature !== undefined) assert.equal(parts[0]?.['signature'], expected.signature)
  if (expected.encrypted_content !== undefined)
    assert.equal(parts[0]?.['encrypted_content'], expected.encrypted_content)
  const tools = parts.filter(({ type }) => CALLS.has(type as string))
  if (expected.tools !== undefined)
    assert.deepEqual(
      tools.map((tool, at) => pick(tool, expected.tools![at] ?? {})),
      expected.tools,
    )
}

/** Dated names of the model, as upstreams answer with them. */
const MODEL = /"model":"stub-[\w-]+"/g

describe('recorded answers of providers', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService(), { upstream: { apis: APIS } })))
  after(() => gateway.upstream.close())

  const ask = async ({ path, request }: Pick<Sample, 'path' | 'request'>, more: JsonObject = {}) => {
    const project = someProject()
    const body = { ...request, model: gateway.model, ...more }
    const answer = await gateway.service.post(path, body, { headers: { 'openai-project': project } })
    const [call] = (await gateway.ended(project)) as readonly Recorded[]
    return { ...answer, call: call! }
  }

  const assertSameAnswer = ({ expected, path, answer, isStream }: Sample, got: string): void => {
    const sent = answer.toString().replaceAll(MODEL, `"model":${JSON.stringify(gateway.model)}`)
    // Chunks are serialised again.
    if (isStream && path.endsWith('completions')) assert.deepEqual(valuesIn(got), valuesIn(sent))
    else if (expected.exception === undefined) assert.equal(got, sent)
    else if (isStream) {
      const before = sent.slice(0, sent.indexOf('event: error'))
      assert.ok(got.startsWith(before) && got.length > before.length, got)
      assert.match(typesIn(got.slice(before.length))[0]!, /^error$/)
    } else assert.equal(JSON.parse(got).type, 'error')
  }

  for (const sample of SAMPLES)
    it(`are passed on and recorded however they are cut: ${sample.name}`, async () => {
      const { expected, answer, isStream } = sample
      const status = expected.status ?? 200
      const sizes = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 })
      await fc.assert(
        fc.asyncProperty(sizes, async (pieces) => {
          gateway.upstream.behave(sendingPieces(isStream ? EVENTS : JSON_TYPE, answer, pieces, status))
          const { status: got, text, call } = await ask(sample)
          assert.equal(got, status, text)
          assertSameAnswer(sample, text)
          assertRecord(sample, call, gateway.model)
        }),
        { numRuns: COUNTS.samples },
      )
    })

  const streams = SAMPLES.filter(
    ({ isStream, path, expected: { exception } }) =>
      isStream && exception === undefined && !path.endsWith('completions'),
  )
  for (const sample of streams)
    it(`have the same figures whole as streamed: ${sample.name}`, async () => {
      gateway.upstream.behave(sendingPieces(EVENTS, sample.answer))
      const streamed = await ask(sample)
      const put = await ask(sample, { stream: false })
      assert.equal(put.status, 200, put.text)
      assert.deepEqual(put.json(), put.call.output)
      gateway.upstream.behave(sendingPieces(JSON_TYPE, put.text))
      const whole = await ask(sample, { stream: false })
      assert.equal(whole.text, put.text)
      const made = await ask(sample)
      for (const { call } of [put, whole, made]) {
        assertRecord(sample, call, gateway.model)
        assert.deepEqual(call.output, streamed.call.output)
        assert.deepEqual(call.summary.usage, streamed.call.summary.usage)
      }
      const [first, last] = [typesIn(made.text)[0], typesIn(made.text).at(-1)]
      assert.deepEqual([first, last], [typesIn(streamed.text)[0], typesIn(streamed.text).at(-1)])
    })
})
