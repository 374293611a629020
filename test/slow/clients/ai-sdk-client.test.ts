import assert from 'node:assert/strict'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  APICallError,
  generateObject,
  generateText,
  jsonSchema,
  streamText,
  tool,
  type LanguageModel,
} from 'ai'
import * as does from '../../support/upstreams/behaviours.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'

interface Place {
  readonly city: string
}

const place = jsonSchema<Place>({
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
})

const tools = {
  weather: tool({
    description: 'The weather of a city.',
    inputSchema: place,
    execute: ({ city }: Place) => `It is sunny in ${city}.`,
  }),
}

describe('the provider for compatible services of the AI SDK', () => {
  let service: TestService
  let gateway: Gateway
  let model: LanguageModel
  const request = { prompt: 'Say hello', maxRetries: 0 }

  before(async () => {
    service = await startTestService()
    gateway = await startGateway(service)
    const provider = createOpenAICompatible({
      name: 'tallytree',
      apiKey: ADMINISTRATOR_KEY,
      baseURL: `${service.address}/v1`,
      headers: { 'OpenAI-Project': 'acme/assistant' },
      includeUsage: true,
      supportsStructuredOutputs: true,
    })
    model = provider(gateway.model)
  })
  beforeEach(() => gateway.upstream.behave(does.saying(['Hello', ', ', 'world'])))
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  it('generates text', async () => {
    const { text, usage, finishReason } = await generateText({ model, ...request })
    assert.deepEqual([text, finishReason], ['Hello, world', 'stop'])
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [11, 3])
  })

  it('streams text, and its usage', async () => {
    const { textStream, usage } = streamText({ model, ...request })
    const pieces: string[] = []
    for await (const piece of textStream) pieces.push(piece)
    assert.equal(pieces.join(''), 'Hello, world')
    assert.ok(pieces.length > 1)
    assert.deepEqual([(await usage).inputTokens, (await usage).outputTokens], [11, 3])
  })

  it('has tools called, whole and streamed', async () => {
    gateway.upstream.behave(does.calling('weather', { city: 'Köln' }))
    const { toolCalls } = await generateText({ model, ...request, tools })
    const streamed = await streamText({ model, ...request, tools }).toolCalls
    for (const calls of [toolCalls, streamed])
      assert.deepEqual([calls[0]?.toolName, calls[0]?.input], ['weather', { city: 'Köln' }])
  })

  it('generates an object by its schema', async () => {
    gateway.upstream.behave(does.saying(['{"city":', '"Köln"}']))
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- programs in use call it
    const { object } = await generateObject({ model, ...request, schema: place })
    assert.deepEqual(object, { city: 'Köln' })
    const { type } = gateway.upstream.arrivals.at(-1)?.body['response_format'] as { type: string }
    assert.equal(type, 'json_schema')
  })

  for (const [status, told, retryable] of [
    [400, 400, false],
    [429, 429, true],
    [500, 502, true],
  ] as const)
    it(`reads the error where the upstream answers ${status}`, async () => {
      gateway.upstream.behave(does.failingWith(status, 'Upstream says no'))
      await assert.rejects(generateText({ model, ...request }), (error) => {
        assert.ok(APICallError.isInstance(error))
        assert.deepEqual([error.statusCode, error.isRetryable], [told, retryable])
        assert.match(error.message, status === told ? /Upstream says no/ : /upstream/)
        return true
      })
    })

  it('hears of a stream that breaks off', async () => {
    gateway.upstream.behave(does.beginningWith(['Hel', 'lo'], does.behind.cut))
    let heard: unknown
    const { fullStream } = streamText({ model, ...request, onError: ({ error }) => void (heard = error) })
    let said = ''
    for await (const part of fullStream) if (part.type === 'text-delta') said += part.text
    assert.equal(said, 'Hello')
    assert.match(heard instanceof Error ? heard.message : JSON.stringify(heard), /upstream/)
  })

  it('leaves, and the upstream is left too', async () => {
    gateway.upstream.behave(does.beginningWith(['Hel', 'lo'], does.behind.silence))
    const leaving = new AbortController()
    const { textStream } = streamText({
      model,
      ...request,
      abortSignal: leaving.signal,
      onError: () => undefined,
    })
    for await (const piece of textStream) if (piece === 'lo') leaving.abort()
    assert.equal(await gateway.upstream.arrivals.at(-1)?.left, true)
  })
})
