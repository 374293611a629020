import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { within } from '../../../../src/kernel/within.js'
import { APIS } from '../../../../src/domain/gateway/upstreams/apis.js'
import { COUNTS } from '../../../counts.js'
import { drawFrom, one, spoil, type Draw } from '../../../support/spoiling.js'
import { startGateway, type Gateway } from '../../../support/upstreams/gateway.js'
import {
  EVENT_APIS,
  EVENTS,
  JSON_TYPE,
  SAMPLES,
  sendingPieces,
  streamOf,
  typesIn,
  valuesIn,
} from '../../../support/upstreams/samples.js'
import { sharedService, someProject } from '../../shared-service.js'

const BOOM = 'the model has exploded'

const ERRORS = {
  responses: [
    { type: 'error', code: 'server_error', message: BOOM, param: null },
    { type: 'response.failed', response: { id: 'resp_1', error: { code: 'server_error', message: BOOM } } },
  ],
  messages: [{ type: 'error', error: { type: 'api_error', message: BOOM } }],
}

const EXTRA = [
  ': comment\n\n',
  'data:\n\n',
  '\n',
  'data: ping\n\n',
  'event: ping\ndata: {}\n\n',
  'data: []\n\n',
  'data: null\n\n',
  'data: [DONE]\n\n',
  'event: tomorrow\ndata: {"type":"of tomorrow"}\n\n',
]

interface Spoilt {
  readonly text: string
  readonly type: string
  readonly isCut: boolean
  readonly hasError: boolean
}

const spoiltStream = (values: readonly JsonObject[], errors: readonly JsonObject[], draw: Draw): Spoilt => {
  const sent = structuredClone(values) as JsonObject[]
  for (let times = draw(3); times > 0; times -= 1) spoil(sent, draw)
  const events = sent.map((value) =>
    (value as Json) !== null && typeof value === 'object' && typeof value['type'] === 'string'
      ? streamOf(value)
      : `data: ${JSON.stringify(value)}\n\n`,
  )
  const hasError = draw(5) === 0
  if (hasError) events.splice(draw(3), 0, streamOf(one(draw, errors)))
  if (draw(3) === 0) events.splice(draw(events.length), 0, one(draw, EXTRA))
  if (draw(6) === 0) events.splice(draw(events.length), 0, one(draw, events))
  if (draw(6) === 0) events.splice(draw(events.length), 1)
  const text = draw(5) === 0 ? events.join('').replaceAll('\n', '\r\n') : events.join('')
  const isCut = draw(8) === 0
  const hasOwnError = hasError && text.includes(BOOM) && !isCut
  return { text: isCut ? text.slice(0, draw(text.length)) : text, type: EVENTS, isCut, hasError: hasOwnError }
}

const spoiltWhole = (value: JsonObject, draw: Draw): Spoilt => {
  const sent = structuredClone(value)
  for (let times = draw(3); times > 0; times -= 1) spoil(sent, draw)
  const text = JSON.stringify(sent, null, draw(2)) + one(draw, ['', '\n'])
  const isCut = draw(8) === 0
  return { text: isCut ? text.slice(0, draw(text.length)) : text, type: JSON_TYPE, isCut, hasError: false }
}

const wellFormedText = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value

const ENDS = new Set(['response.completed', 'response.incomplete', 'message_stop'])
const LAST_ERRORS = new Set(['error', 'response.failed'])

describe('a mutated answer in events', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService(), { upstream: { apis: APIS } })))
  after(() => gateway.upstream.close())

  const judge = async (api: keyof typeof EVENT_APIS, spoilt: Spoilt, stream: boolean): Promise<void> => {
    const { path, request } = EVENT_APIS[api]
    const project = someProject()
    const body = { ...request, model: gateway.model, stream }
    const sent = gateway.service.post(path, body, { headers: { 'openai-project': project } })
    const answered = await within(20_000, sent)
    assert.ok(answered !== undefined, 'it hangs')
    const { status, text } = answered
    assert.ok(status === 200 || (status >= 400 && status !== 500), `status ${status}`)
    const [call] = await gateway.ended(project)
    const { exception, output, summary } = call!
    const last = typesIn(text).at(-1) ?? ''
    const isWhole = status === 200 && (!stream || ENDS.has(last))
    assert.equal(exception === null, isWhole, `${exception} after ${last}`)
    if (stream && status === 200 && !isWhole) assert.ok(LAST_ERRORS.has(last), `it ends with ${last}`)
    if (spoilt.hasError)
      assert.ok(!isWhole && text.includes(BOOM) && exception!.includes(BOOM), 'the error is lost')
    if (stream) assert.doesNotThrow(() => valuesIn(text))
    else if (status === 200)
      assert.deepEqual(output, { ...(JSON.parse(text, wellFormedText) as JsonObject), model: gateway.model })
    const usage = summary.usage?.[gateway.model]
    assert.equal(usage === undefined, summary.tallytree?.metering === 'unknown')
    for (const figure of ['prompt_tokens', 'completion_tokens', 'cache_read_input_tokens'])
      assert.ok(usage === undefined || Number(usage[figure]) >= 0, `${figure} of ${JSON.stringify(usage)}`)
  }

  for (const api of ['responses', 'messages'] as const)
    it(`is recorded as the client got it, and never a 500, a hang or a lost error: ${api}`, async function () {
      this.timeout(COUNTS.mutatedAnswers * 1000)
      const { answerOf } = EVENT_APIS[api]
      const streams = SAMPLES.filter(
        ({ name, isStream, expected }) => name.includes(api) && isStream && !expected.exception,
      )
      const failures: string[] = []
      for (let number = 0; number < COUNTS.mutatedAnswers; number += 1) {
        const seed = COUNTS.fuzzSeed * 100_003 + number
        const draw = drawFrom(seed)
        const stream = draw(4) > 0
        const values = valuesIn(one(draw, streams).answer.toString())
        const spoilt =
          draw(5) > 0 ? spoiltStream(values, ERRORS[api], draw) : spoiltWhole(answerOf('Hello').whole, draw)
        gateway.upstream.behave(sendingPieces(spoilt.type, spoilt.text, [1 + draw(300), 1 + draw(3000)]))
        await judge(api, spoilt, stream).catch((error: unknown) =>
          failures.push(
            `seed ${seed}, ${stream ? 'streamed' : 'whole'}: ${(error as Error).message}\n${spoilt.text}`,
          ),
        )
      }
      assert.equal(failures.length, 0, `${failures.length} failed\n${failures.slice(0, 5).join('\n\n')}`)
    })
})
