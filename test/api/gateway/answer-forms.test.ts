import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import * as does from '../../support/upstreams/behaviours.js'
import { chunksIn, startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { ADMINISTRATOR_KEY } from '../../support/service.js'
import { startUpstream, type Behaviour } from '../../support/upstreams/upstream.js'
import { sharedService, someProject } from '../shared-service.js'

const USAGE = does.usageOf(12, 3)
const WHOLE = does.wholeOf('chat-1', 'Hello, world', USAGE)
const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): JsonObject => ({
  ...does.chunkOf('chat-1', [does.delta(0, delta, finish)], null),
  ...more,
})
const CHUNKS = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'Hello, ' }),
  chunk({ content: 'world' }),
  chunk({}, 'stop'),
  does.chunkOf('chat-1', [], USAGE),
]
const EVENTS = `${CHUNKS.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`
const LINES = CHUNKS.map((one) => `${JSON.stringify(one)}\n`).join('')

const sends =
  (type: string, body: string | Buffer, headers: Record<string, string> = {}): Behaviour =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': type, ...headers }).end(body)

describe('a good answer of an upstream, in any wrapping', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  const asked = async (behaviour: Behaviour, stream: boolean) => {
    gateway.upstream.behave(behaviour)
    const project = someProject()
    const answer = await gateway.complete({ stream }, { headers: { 'openai-project': project } })
    const [call] = await gateway.ended(project)
    return { answer, call: call! }
  }

  /** The text of the answer, and its usage as recorded, whether it was streamed or not. */
  const isAnswered = async (behaviour: Behaviour, stream: boolean) => {
    const { answer, call } = await asked(behaviour, stream)
    assert.equal(answer.status, 200, answer.text)
    const choices = (stream ? chunksIn(answer.text) : [answer.json()]).flatMap(
      (one) => one['choices'] as readonly { delta?: { content?: string }; message?: { content?: string } }[],
    )
    const content = choices.map(({ delta, message }) => (stream ? delta : message)?.content ?? '').join('')
    assert.equal(content, 'Hello, world')
    assert.equal(call.exception, null)
    const [recorded] = call.output?.['choices'] as readonly { message: JsonObject }[]
    assert.equal(recorded?.message['content'], 'Hello, world')
    assert.equal(call.summary.usage?.[gateway.model]?.['total_tokens'], 15)
    assert.equal(call.summary.tallytree?.metering, 'reported')
  }

  const codings: readonly (readonly [string, (bytes: string) => string | Buffer])[] = [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['gzip, br', (bytes) => brotliCompressSync(gzipSync(bytes))],
    ['identity', String],
    ['utf-8', String],
    ['', String],
  ]
  for (const [coding, encode] of codings)
    it(`is read with the content coding ${JSON.stringify(coding)} (${encode.name})`, async () => {
      const headers = { 'content-encoding': coding }
      await isAnswered(sends('application/json', encode(JSON.stringify(WHOLE)), headers), false)
      await isAnswered(sends('text/event-stream', encode(EVENTS), headers), true)
    })

  it('is streamed as it comes, although it is compressed', async () => {
    let isRead = false
    gateway.upstream.behave(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' })
      const gzip = createGzip()
      gzip.pipe(response)
      const send = (data: JsonObject | string) => {
        gzip.write(`data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`)
        gzip.flush()
      }
      send(CHUNKS[1]!)
      while (!isRead) await sleep(5)
      send(chunk({ content: 'world' }, 'stop'))
      send('[DONE]')
      gzip.end()
    })
    const response = await fetch(`${gateway.service.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMINISTRATOR_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: gateway.model,
        messages: [{ role: 'user', content: 'a' }],
        stream: true,
      }),
    })
    let text = ''
    for await (const piece of response.body!) {
      text += Buffer.from(piece as Uint8Array).toString()
      isRead = true
    }
    assert.match(text, /Hello, [^]*world[^]*\[DONE\]/)
  })

  it('is refused with a coding that is unknown or does not match, by its name', async () => {
    for (const stream of [false, true]) {
      const unknown = await asked(sends('application/json', 'x', { 'content-encoding': 'zstd' }), stream)
      assert.equal(unknown.answer.status, 502)
      assert.match(unknown.answer.text, /content-encoding is \\"zstd\\"/)
      const wrong = await asked(sends('application/json', 'no gzip', { 'content-encoding': 'gzip' }), stream)
      assert.equal(wrong.answer.status, 502)
      const cut = gzipSync(stream ? EVENTS.slice(0, 300) : JSON.stringify(WHOLE)).subarray(0, -12)
      assert.equal(
        (await asked(sends('application/json', cut, { 'content-encoding': 'gzip' }), stream)).answer.status,
        502,
      )
    }
  })

  it('is refused when it inflates to more than 64 MiB', async () => {
    const bomb = gzipSync(`{"choices":[],"x":"${'x'.repeat(65 * 1024 * 1024)}"}`)
    const { answer } = await asked(sends('application/json', bomb, { 'content-encoding': 'gzip' }), false)
    assert.match(answer.json<{ error: { message: string } }>().error.message, /exceeds/)
  })

  for (const error of ['', {}, { code: 0, message: '' }, { code: null }, false, null, 0, []])
    it(`is read beside "error": ${JSON.stringify(error)}`, async () => {
      await isAnswered(sends('application/json', JSON.stringify({ ...WHOLE, error })), false)
      const events = CHUNKS.map((one) => `data: ${JSON.stringify({ ...one, error })}\n\n`).join('')
      await isAnswered(sends('text/event-stream', events), true)
    })

  const forms: readonly (readonly [string, string, string])[] = [
    ['JSON', 'application/json', JSON.stringify(WHOLE)],
    ['JSON with an end of line', 'application/json', `${JSON.stringify(WHOLE)}\r\n`],
    ['indented JSON', 'application/json', JSON.stringify(WHOLE, null, 2)],
    ['JSON after blanks', 'text/plain', `\n \r\n${JSON.stringify(WHOLE)}`],
    ['events', 'text/event-stream', EVENTS],
    ['events of another type', 'application/json', EVENTS],
    ['events after comments', 'text/event-stream', `: waiting\n\n\n: waiting\n\n${EVENTS}`],
    ['events without [DONE]', 'text/event-stream', EVENTS.replace('data: [DONE]\n\n', '')],
    ['one event with the whole answer', 'text/event-stream', `data: ${JSON.stringify(WHOLE)}\n\n`],
    ['lines of JSON', 'application/x-ndjson', LINES],
    ['lines of JSON without the last end', 'application/jsonl', LINES.trimEnd()],
    ['lines of JSON with CR LF and blank lines', 'application/json', LINES.replaceAll('\n', '\r\n\r\n')],
    ['a JSON text sequence', 'application/json-seq', LINES.replaceAll('{"id"', '\u001e{"id"')],
    ['a list of chunks', 'application/json', JSON.stringify(CHUNKS)],
  ]
  for (const [form, type, body] of forms)
    for (const stream of [false, true])
      it(`is read as ${form}, ${stream ? 'streamed' : 'whole'}`, () => isAnswered(sends(type, body), stream))

  it('is read as JSON of more than 1 MiB in place of a stream', async () => {
    const long = 'x'.repeat(1_500_000)
    const whole = JSON.stringify(does.wholeOf('chat-1', long, USAGE))
    const { answer, call } = await asked(sends('application/json', whole), true)
    assert.equal(answer.status, 200)
    assert.ok(answer.text.includes(long))
    assert.equal(call.exception, null)
  })

  it('has all choices and tool calls when it is put together from events', async () => {
    gateway.upstream.behave((_, response, request) =>
      does.calling('weather', { city: 'Köln' })(
        { stream: true, stream_options: { include_usage: true } },
        response,
        request,
      ),
    )
    const { json } = await gateway.complete()
    const [choice] = json<{ choices: { message: JsonObject; finish_reason: string }[] }>().choices
    assert.equal(choice?.finish_reason, 'tool_calls')
    assert.match(JSON.stringify(choice.message['tool_calls']), /"arguments":"{\\"city\\":\\"Köln\\"}"/)
  })
})

describe('an answer without an answer', () => {
  let gateway: Gateway
  before(async () => (gateway = await startGateway(await sharedService())))
  after(() => gateway.upstream.close())

  const answered = async (choices: readonly JsonObject[], stream: boolean) => {
    const body = stream
      ? `data: ${JSON.stringify(does.chunkOf('chat-1', choices, null))}\n\ndata: [DONE]\n\n`
      : JSON.stringify({ ...WHOLE, choices })
    gateway.upstream.behave(sends(stream ? 'text/event-stream' : 'application/json', body))
    const answer = await gateway.complete({ stream })
    if (answer.status === 200) return true
    assert.equal(answer.status, 502)
    assert.match(answer.text, /no message|no completion|reported an error/)
    return false
  }

  const choiceOf = (
    written: JsonObject | null | undefined,
    finish_reason: string | null,
    stream: boolean,
  ): JsonObject => ({
    index: 0,
    ...(written === undefined ? {} : { [stream ? 'delta' : 'message']: written }),
    finish_reason,
  })

  const cases: readonly (readonly [JsonObject | null | undefined, string | null, boolean])[] = [
    [undefined, 'stop', false],
    [null, 'stop', false],
    [{}, 'stop', false],
    [{ role: 'assistant' }, 'stop', false],
    [{ role: 'assistant', content: null }, 'stop', false],
    [{ role: 'assistant', content: null, tool_calls: [] }, 'tool_calls', false],
    [{ role: 'assistant', content: '' }, null, false],
    [{ role: 'assistant', content: '' }, 'error', false],
    [{ role: 'assistant', content: '' }, 'stop', true],
    [{ role: 'assistant', content: null }, 'length', true],
    [{ role: 'assistant', content: null }, 'content_filter', true],
    [{ role: 'assistant', content: 'x' }, null, true],
    [{ role: 'assistant', content: null, refusal: 'no' }, 'stop', true],
    [{ role: 'assistant', content: null, reasoning_content: 'hm' }, 'stop', true],
    [{ role: 'assistant', content: null, audio: { id: 'a', data: 'AAAA' } }, 'stop', true],
    [
      {
        role: 'assistant',
        tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
      },
      'tool_calls',
      true,
    ],
    [{ role: 'assistant', content: [{ type: 'text', text: 'x' }] }, 'stop', true],
  ]
  for (const [written, reason, isAnswer] of cases)
    it(`${isAnswer ? 'is passed on' : 'is a failure'}: ${JSON.stringify(written)} with ${reason}`, async () => {
      for (const stream of [false, true])
        assert.equal(
          await answered([choiceOf(written, reason, stream)], stream),
          isAnswer,
          stream ? 'streamed' : 'whole',
        )
    })

  it('keeps the choices that have one', async () => {
    const good = { index: 1, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }
    assert.equal(await answered([{ index: 0, message: null, finish_reason: 'stop' }, good], false), true)
  })

  it('counts against the health of its upstream, and the next one is asked', async () => {
    const other = await startUpstream(does.saying(['from the second'], USAGE))
    const made = await gateway.service.post('/api/inference/upstreams', {
      name: `${gateway.model.replace('/', '-')}-2`,
      base_url: other.baseUrl,
      weight: 0,
      models: [{ id: gateway.model, upstream_id: 'chat-1' }],
    })
    assert.equal(made.status, 200, made.text)
    const health = async () => {
      const listed = await gateway.service.send('GET', '/api/inference/upstreams?limit=1000')
      const { data } = listed.json<{
        data: readonly { base_url: string; health: { models: readonly JsonObject[] } }[]
      }>()
      const own = data.find(({ base_url }) => base_url === gateway.upstream.baseUrl)
      return own?.health.models[0]?.['faults_in_a_row']
    }
    for (const stream of [false, true]) {
      await answered([choiceOf({ content: 'x' }, 'stop', stream)], stream)
      assert.equal(await health(), 0)
      gateway.upstream.behave(
        sends('application/json', JSON.stringify({ ...WHOLE, choices: [choiceOf(null, 'stop', false)] })),
      )
      assert.match((await gateway.complete({ stream })).text, /from the second/)
      assert.equal(await health(), 1)
    }
    await other.close()
  })
})

describe('an upstream that sends no part of an answer', () => {
  let gateway: Gateway
  before(
    async () =>
      (gateway = await startGateway(await sharedService(), {
        upstream: { timeouts: { first_byte_ms: 300, idle_ms: 300 } },
      })),
  )
  after(() => gateway.upstream.close())

  const EMPTY: Readonly<Record<string, string>> = {
    comments: ': waiting\n\n',
    blanks: '\n\n',
    'events with a role alone': `data: ${JSON.stringify(CHUNKS[0])}\n\n`,
    'events of its own': 'event: ping\ndata: {"type":"ping"}\n\n',
  }

  const repeating =
    (text: string, before = ''): Behaviour =>
    async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(before)
      while (!response.destroyed) {
        response.write(text)
        await sleep(50)
      }
    }

  for (const [what, text] of Object.entries(EMPTY)) {
    for (const stream of [false, true])
      it(`times out before the first part, although it sends ${what}, ${stream ? 'streamed' : 'whole'}`, async () => {
        gateway.upstream.behave(repeating(text))
        const answer = await gateway.complete({ stream })
        assert.equal(answer.status, 504, answer.text)
        assert.match(answer.text, /timed out \(first byte\)/)
        assert.equal(await gateway.upstream.arrivals.at(-1)?.left, true)
      })

    it(`times out between two parts, although it sends ${what}`, async () => {
      gateway.upstream.behave(repeating(text, `data: ${JSON.stringify(chunk({ content: 'half' }))}\n\n`))
      const answer = await gateway.complete({ stream: true })
      assert.equal(answer.status, 200)
      assert.match(answer.text, /half[^]*timed out \(idle\)/)
      assert.equal(await gateway.upstream.arrivals.at(-1)?.left, true)
    })
  }

  it('does not time out while parts come', async () => {
    gateway.upstream.behave(does.saying(Array.from({ length: 8 }, String), USAGE, { pauseMs: 60 }))
    assert.match((await gateway.complete({ stream: true })).text, /\[DONE\]/)
  })
})
