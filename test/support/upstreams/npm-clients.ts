import assert from 'node:assert/strict'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { APICallError, generateObject, generateText, jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { ADMINISTRATOR_KEY } from '../service.js'
import { PLACE, type CompletionClient } from './completion-client.js'

/** The project of their completions. */
export const PROJECT = 'acme/assistant'

/** A client at a base URL that asks a model. */
export type OpenClient = (baseURL: string, modelId: string) => CompletionClient

interface Place {
  readonly city: string
}

const aiSdk: OpenClient = (baseURL, modelId) => {
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
      assert.equal(error.isRetryable, error.statusCode !== 400 && error.statusCode !== 413)
      return error.statusCode
    },
  }
}

/** The usage of a message, which its type does not declare. */
const tokensOf = (message: object): number =>
  (message as { usage_metadata?: { total_tokens: number } }).usage_metadata?.total_tokens ?? 0

const langChain: OpenClient = (baseURL, model) => {
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
    statusOf: (error) => {
      const { status, cause } = error as Error & { status?: number; cause?: { status?: number } }
      return status ?? cause?.status
    },
  }
}

const WEATHER_TOOL = { type: 'function', function: { name: 'weather', parameters: PLACE } } as const

const openAi: OpenClient = (baseURL, model) => {
  const client = new OpenAI({ apiKey: ADMINISTRATOR_KEY, baseURL, project: PROJECT, maxRetries: 0 })
  const request = { model, messages: [{ role: 'user' as const, content: 'Say hello' }] }
  const { completions } = client.chat
  return {
    ask: async () => {
      const { choices, usage } = await completions.create(request)
      return { text: choices[0]?.message.content ?? '', tokens: usage?.total_tokens ?? 0 }
    },
    stream: async (onText, signal) => {
      const streaming = { ...request, stream: true, stream_options: { include_usage: true } } as const
      let tokens = 0
      for await (const { choices, usage } of await completions.create(streaming, { signal })) {
        // The filter of Azure sends choices without a delta.
        const delta = choices[0]?.delta as { content?: string | null } | undefined
        const text = delta?.content ?? ''
        if (text !== '') onText(text)
        tokens = usage?.total_tokens ?? tokens
      }
      return tokens
    },
    callTool: async () => {
      const withTool = { ...request, tools: [WEATHER_TOOL] }
      const whole = await completions.create(withTool)
      const streamed = await completions.stream(withTool).finalChatCompletion()
      return [whole, streamed].map(({ choices }) => {
        const [call] = choices[0]?.message.tool_calls ?? []
        assert.ok(call?.type === 'function')
        return JSON.parse(call.function.arguments) as unknown
      })
    },
    askForPlace: async () => {
      const response_format = { type: 'json_schema', json_schema: { name: 'place', schema: PLACE } } as const
      return (await completions.parse({ ...request, response_format })).choices[0]?.message.parsed
    },
    statusOf: (error) => (error instanceof OpenAI.APIError ? (error.status as number) : undefined),
  }
}

export const NPM_CLIENTS: Readonly<Record<string, OpenClient>> = {
  'the package openai': openAi,
  'the provider for compatible services of the AI SDK': aiSdk,
  'ChatOpenAI of LangChain': langChain,
}
