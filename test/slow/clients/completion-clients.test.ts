import assert from 'node:assert/strict'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { APICallError, generateObject, generateText, jsonSchema, streamText, tool } from 'ai'
import {
  completionClientTests,
  PLACE,
  type CompletionClient,
} from '../../support/upstreams/completion-client.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'

const PROJECT = 'acme/assistant'

type Open = (baseURL: string, modelId: string) => CompletionClient

interface Place {
  readonly city: string
}

const aiSdk: Open = (baseURL, modelId) => {
  const provider = createOpenAICompatible({
    name: 'tallytree',
    apiKey: ADMINISTRATOR_KEY,
    baseURL,
    headers: { 'OpenAI-Project': PROJECT },
    includeUsage: true,
    supportsStructuredOutputs: true,
  })
  const schema = jsonSchema<Place>(PLACE)
  const tools = {
    weather: tool({
      description: 'The weather of a city.',
      inputSchema: schema,
      execute: ({ city }: Place) => `It is sunny in ${city}.`,
    }),
  }
  const request = { model: provider(modelId), prompt: 'Say hello', maxRetries: 0 }
  return {
    ask: async () => {
      const { text, usage } = await generateText(request)
      return { text, tokens: usage.totalTokens ?? 0 }
    },
    stream: async (onText, abortSignal) => {
      let failure: unknown
      const { textStream, usage } = streamText({
        ...request,
        ...(abortSignal === undefined ? {} : { abortSignal }),
        onError: ({ error }) => void (failure = error),
      })
      for await (const piece of textStream) onText(piece)
      if (failure !== undefined) throw failure instanceof Error ? failure : new Error(JSON.stringify(failure))
      return (await usage).totalTokens ?? 0
    },
    callTool: async () => {
      const { toolCalls } = await generateText({ ...request, tools })
      const streamed = await streamText({ ...request, tools }).toolCalls
      return [toolCalls[0]?.input, streamed[0]?.input]
    },
    askForPlace: async () =>
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- client programs still call this deprecated method
      (await generateObject({ ...request, schema })).object,
    statusOf: (error) => {
      assert.ok(APICallError.isInstance(error))
      assert.equal(error.isRetryable, error.statusCode !== 400)
      return error.statusCode
    },
  }
}

/** The usage of a message, which its type does not declare. */
const tokensOf = (message: object): number =>
  (message as { usage_metadata?: { total_tokens: number } }).usage_metadata?.total_tokens ?? 0

const langChain: Open = (baseURL, model) => {
  const chat = new ChatOpenAI({
    model,
    apiKey: ADMINISTRATOR_KEY,
    maxRetries: 0,
    configuration: { baseURL, project: PROJECT },
  })
  const weather = { name: 'weather', description: 'The weather of a city.', parameters: PLACE }
  const withTools = chat.bindTools([{ type: 'function', function: weather }])
  return {
    ask: async () => {
      const answer = await chat.invoke('Say hello')
      return { text: answer.text, tokens: tokensOf(answer) }
    },
    stream: async (onText, signal) => {
      let tokens = 0
      for await (const chunk of await chat.stream('Say hello', signal === undefined ? {} : { signal })) {
        if (chunk.text !== '') onText(chunk.text)
        tokens += tokensOf(chunk)
      }
      return tokens
    },
    callTool: async () => {
      const whole = await withTools.invoke('How is the weather?')
      let pieces = ''
      for await (const { tool_call_chunks = [] } of await withTools.stream('How is the weather?'))
        for (const { args = '' } of tool_call_chunks) pieces += args
      return [whole.tool_calls?.[0]?.args, JSON.parse(pieces)]
    },
    askForPlace: () =>
      chat.withStructuredOutput(PLACE, { name: 'place', method: 'jsonSchema' }).invoke('Where?'),
    statusOf: (error) => (error as Error & { status?: number }).status,
  }
}

const CLIENTS: Readonly<Record<string, Open>> = {
  'the provider for compatible services of the AI SDK': aiSdk,
  'ChatOpenAI of LangChain': langChain,
}

describe('a client of completions', () => {
  let service: TestService
  let gateway: Gateway
  before(async () => {
    service = await startTestService()
    gateway = await startGateway(service)
  })
  after(async () => {
    await service.stop()
    await gateway.upstream.close()
  })

  for (const [name, open] of Object.entries(CLIENTS))
    describe(name, () => {
      let client: CompletionClient
      before(() => (client = open(`${service.address}/v1`, gateway.model)))
      completionClientTests(() => ({ client, gateway }))
    })
})
