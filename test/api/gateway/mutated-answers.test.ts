import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerResponse } from 'node:http'
import { isJsonObject, type Json, type JsonObject } from '../../../src/kernel/json/json.js'
import { startGateway, type Completion, type Gateway } from '../../support/upstreams/gateway.js'
import { within } from '../../../src/kernel/within.js'
import { COUNTS } from '../../counts.js'
import { drawFrom, one, spoil, type Draw } from '../../support/spoiling.js'
import { sharedService, someProject } from '../shared-service.js'

const USAGE = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 }

const chunk = (delta: JsonObject, finish_reason: string | null = null, index = 0): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'up',
  choices: [{ index, delta, finish_reason }],
})

const call = (index: number, more: JsonObject): JsonObject => chunk({ tool_calls: [{ index, ...more }] })

const STREAMS: readonly (readonly JsonObject[])[] = [
  [
    chunk({ role: 'assistant', content: '' }),
    ...['Hel', 'lo', ', ', 'wor', 'ld'].map((content) => chunk({ content })),
    chunk({}, 'stop'),
    { ...chunk({}), choices: [], usage: USAGE },
  ],
  [
    chunk({ role: 'assistant', content: null }),
    chunk({ reasoning_content: 'think ' }),
    chunk({ reasoning_content: 'hard', provider: 'acme' }),
    call(0, { id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }),
    ...['{"ci', 'ty":"', 'Berlin', '"}'].map((given) => call(0, { function: { arguments: given } })),
    chunk({}, 'tool_calls'),
  ],
  [
    chunk({ role: 'assistant', refusal: 'I ', content: 'a' }),
    chunk({ refusal: 'can', content: 'b' }),
    chunk({ refusal: 'not', content: 'c', thinking_blocks: [{ type: 'thinking', thinking: 'x' }] }),
    { ...chunk({}, 'stop'), usage: USAGE },
  ],
]

const WHOLE: readonly JsonObject[] = [
  {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: USAGE,
  },
]

const BOOM = 'the model has exploded'
const ERRORS: readonly JsonObject[] = [
  { error: { message: BOOM, code: 500 } },
  { error: BOOM },
  { object: 'error', message: BOOM, code: 400 },
  { detail: BOOM },
  { base_resp: { status_code: 1008, status_msg: BOOM }, choices: null },
  { success: false, errors: [{ code: 7009, message: BOOM }] },
]

interface Spoilt {
  readonly text: string
  readonly type: string
  readonly isCut: boolean
  readonly hasError: boolean
}

const event = (value: Json) => `data: ${JSON.stringify(value)}\n\n`

const spoiltStream = (draw: Draw): Spoilt => {
  const chunks = structuredClone(one(draw, STREAMS)) as JsonObject[]
  for (let times = draw(3); times >= 0; times -= 1) spoil(chunks, draw)
  const events = chunks.map(event)
  const last = events.length
  const hasError = draw(4) === 0
  if (hasError) events.splice(draw(last), 0, event(one(draw, ERRORS)))
  const extra = [
    ': comment\n\n',
    'data:\n\n',
    '\n',
    'data: ping\n\n',
    'event: ping\ndata: {}\n\n',
    event([]),
    event({}),
  ]
  if (draw(3) === 0) events.splice(draw(last), 0, one(draw, extra))
  if (draw(6) === 0) events.splice(draw(last), 0, events[draw(last)]!)
  if (draw(3) > 0) events.push('data: [DONE]\n\n')
  const isCut = draw(8) === 0
  const text = draw(5) === 0 ? events.join('').replaceAll('\n', '\r\n') : events.join('')
  return {
    text: isCut ? text.slice(0, draw(text.length)) : text,
    type: 'text/event-stream',
    isCut,
    hasError: hasError && !isCut,
  }
}

const spoiltWhole = (draw: Draw): Spoilt => {
  const hasError = draw(6) === 0
  const value = structuredClone(hasError ? one(draw, ERRORS) : one(draw, WHOLE))
  if (!hasError) for (let times = draw(3); times >= 0; times -= 1) spoil(value, draw)
  const text = JSON.stringify(value)
  const isCut = !hasError && draw(10) === 0
  return { text: isCut ? text.slice(0, draw(text.length)) : text, type: 'application/json', isCut, hasError }
}

/** Sends the text in pieces. */
const send = async (response: ServerResponse, { text, type, isCut }: Spoilt, draw: Draw): Promise<void> => {
  response.writeHead(200, { 'content-type': type })
  for (let rest = text; rest !== '';) {
    const length = 1 + draw(200)
    response.write(rest.slice(0, length))
    rest = rest.slice(length)
    if (draw(4) === 0) await new Promise(setImmediate)
  }
  if (isCut && draw(2) === 0) response.destroy()
  else response.end()
}

const TEXTS = ['content', 'refusal', 'reasoning_content'] as const

interface Assembled {
  readonly texts: Readonly<Record<string, string>>
  /** Members that were no text in a piece. */
  readonly odd: ReadonlySet<string>
  /** All arguments of tools, in the order in which they came. */
  readonly given: string
}

const objectsIn = (value: Json | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : []

const isNothing = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

const argumentsOf = (message: JsonObject): readonly (Json | undefined)[] =>
  objectsIn(message['tool_calls']).map((one_) =>
    isJsonObject(one_['function']) ? one_['function']['arguments'] : undefined,
  )

/** What a client makes of one choice's deltas: it appends texts. */
const assembled = (messages: readonly JsonObject[]): Assembled => {
  const texts: Record<string, string> = {}
  const odd = new Set<string>()
  let given = ''
  for (const message of messages) {
    for (const key of TEXTS) {
      const piece = message[key]
      if (typeof piece === 'string') texts[key] = (texts[key] ?? '') + piece.toWellFormed()
      else if (!isNothing(piece)) odd.add(key)
    }
    for (const piece of argumentsOf(message)) {
      if (typeof piece === 'string') given += piece.toWellFormed()
      else if (!isNothing(piece)) odd.add('arguments')
    }
  }
  return { texts, odd, given }
}

const placeOf = ({ index }: JsonObject): number =>
  Number.isInteger(index)
    ? (index as number)
    : typeof index === 'string' && /^\d+$/.test(index)
      ? Number(index)
      : 0

const isRecordOf = (output: JsonObject | null, chunks: readonly JsonObject[]): void => {
  const choices = chunks.flatMap(({ choices: given }) => objectsIn(given))
  const recorded = objectsIn(output?.['choices'])
  assert.deepEqual(
    recorded.map(placeOf),
    [...new Set(choices.map(placeOf))].sort((a, b) => a - b),
  )
  for (const choice of recorded) {
    const own = choices.filter((other) => placeOf(other) === placeOf(choice))
    const deltas = own.map(({ delta }) => delta).filter(isJsonObject)
    const reasons = own
      .map(({ finish_reason }) => finish_reason)
      .filter((reason): reason is string => typeof reason === 'string' && reason !== '')
    assert.equal(choice['finish_reason'], reasons.at(-1)?.toWellFormed() ?? null)
    const [expected, found] = [assembled(deltas), assembled([choice['message'] as JsonObject])]
    for (const key of TEXTS)
      if (!expected.odd.has(key)) assert.equal(found.texts[key] ?? '', expected.texts[key] ?? '', key)
    if (!expected.odd.has('arguments') && !expected.odd.has('tool_calls'))
      assert.equal(found.given, expected.given)
  }
}

const wellFormedText = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value

describe('a mutated answer of an upstream', () => {
  let gateway: Gateway
  before(async () => {
    gateway = await startGateway(await sharedService())
  })
  after(() => gateway.upstream.close())

  const endOf = async (project: string, after: bigint): Promise<Completion> => {
    for (;;) {
      for await (const { type, data } of gateway.service.stores.eventStore.readAll({ after }))
        if (type === 'CallEnded' && data['project_id'] === project) return data as unknown as Completion
      await sleep(2)
    }
  }

  const judge = async (spoilt: Spoilt, stream: boolean): Promise<void> => {
    const project = someProject()
    const after = await gateway.service.stores.eventStore.head()
    const answered = await within(
      20_000,
      gateway.complete({ stream }, { headers: { 'openai-project': project } }),
    )
    assert.ok(answered !== undefined, 'it hangs')
    const { status, text } = answered
    assert.ok(status === 200 || (status >= 400 && status !== 500), `status ${status}`)
    const ended = await endOf(project, after)
    const events =
      status === 200 && stream ? text.split('\n\n').filter((part) => part.startsWith('data: ')) : []
    const values = events
      .map((part) => part.slice(6))
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data) as JsonObject)
    const errors = values.filter((value) => 'error' in value && 'detail' in value)
    const isWhole = stream ? events.at(-1) === 'data: [DONE]' : status === 200
    assert.equal(ended.exception === null, isWhole, `${ended.exception}`)
    if (stream && status === 200) assert.equal(errors.length, isWhole ? 0 : 1)
    if (spoilt.hasError)
      assert.ok(!isWhole && text.includes(BOOM) && ended.exception!.includes(BOOM), 'the error is lost')
    if (status !== 200) return
    if (stream)
      isRecordOf(
        ended.output,
        values.filter((value) => !errors.includes(value)),
      )
    else assert.deepEqual(ended.output, JSON.parse(text, wellFormedText))
  }

  it(`is recorded as the client got it, and never a 500, a hang or a lost error`, async function () {
    this.timeout(COUNTS.mutatedAnswers * 1000)
    const failures: string[] = []
    for (let number = 0; number < COUNTS.mutatedAnswers; number += 1) {
      const seed = COUNTS.fuzzSeed * 100_003 + number
      const draw = drawFrom(seed)
      const stream = draw(4) > 0
      const spoilt = stream && draw(10) > 0 ? spoiltStream(draw) : spoiltWhole(draw)
      gateway.upstream.behave((_, response) => send(response, spoilt, draw))
      await judge(spoilt, stream).catch((error: unknown) =>
        failures.push(
          `seed ${seed}, ${stream ? 'streamed' : 'whole'}: ${(error as Error).message}\n${spoilt.text}`,
        ),
      )
    }
    assert.equal(failures.length, 0, `${failures.length} failed\n${failures.slice(0, 5).join('\n\n')}`)
  })
})
