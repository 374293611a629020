import { readFileSync } from 'node:fs'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startUpstream, type Behaviour, type ScriptedUpstream } from './upstream.js'

export const TEXT = 'Hello, world.'

const sample = (name: string): JsonObject =>
  JSON.parse(readFileSync(new URL(`../../samples/gateway/${name}`, import.meta.url), 'utf8')) as JsonObject

const usage = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 }
const message = { role: 'assistant', content: TEXT }

/** Whole answers by the last part of the path. */
const ANSWERS: Readonly<Record<string, JsonObject>> = {
  responses: sample('01-responses-text.response.json'),
  rerank: { results: [{ index: 0, relevance_score: 0.9 }] },
  moderations: { id: 'modr-1', model: 'moderation', results: [{ flagged: false, categories: {} }] },
  embeddings: sample('15-embeddings-token-arrays.response.json'),
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: TEXT }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 4 },
  },
  completions: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1760000000,
    model: 'gpt',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  },
}

/** Whole answers in the APIs of OpenAI and Anthropic. */
export const answersOfAllApis: Behaviour = (_body, response, { url = '' }) => {
  const answer = ANSWERS[url.split('?')[0]!.split('/').at(-1)!]
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer ?? { error: { message: 'Not found' } }))
}

export const startUpstreamOfAllApis = (): Promise<ScriptedUpstream> => startUpstream(answersOfAllApis)
