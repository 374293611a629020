import type { ServerResponse } from 'node:http'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { beginStream, chunkOf, delta, drained, sendEvent, usageOf } from './behaviours.js'
import type { Behaviour } from './upstream.js'

/** Characters of a piece, which cut surrogate pairs and escapes anywhere. */
const PIECE = 997

const FIELDS = ['content', 'reasoning_content', 'first call', 'second call'] as const

interface Rambling {
  readonly behaviour: Behaviour
  /** The answer that it stands for, but for the model's name. */
  readonly output: JsonObject
  /** How many there are before its end. */
  readonly events: number
  /** Bytes of all texts in it. */
  readonly bytes: number
}

/** Streams two choices of several texts of so many characters each, all mixed; then it ends, or says nothing more. */
export const rambling = (characters: number, then: 'done' | 'silence' = 'done'): Rambling => {
  const usage = usageOf(11, 700_000)
  const texts = new Map(
    [0, 1].flatMap((index) =>
      FIELDS.map((field) => [`${index} ${field}`, long(`${index} ${field} `, characters)]),
    ),
  )
  const text = (index: number, field: string) => texts.get(`${index} ${field}`)!
  const chunks = Array.from({ length: Math.ceil(characters / PIECE) }).flatMap((_, at) =>
    [0, 1].flatMap((index) =>
      FIELDS.map((field) =>
        pieceOf(index, field, text(index, field).slice(at * PIECE, (at + 1) * PIECE), at),
      ),
    ),
  )
  const begin = [0, 1].map((index) => delta(index, { role: 'assistant', content: '', tool_calls: CALLS }))
  const behaviour: Behaviour = async (body, response) => {
    const model = body['model'] as string
    const send = async (choice: JsonObject) => {
      if (!sendEvent(response, chunkOf(model, [choice], null))) await drained(response)
    }
    beginStream(response)
    for (const choice of [...begin, ...chunks]) await send(choice)
    if (then === 'silence') return
    for (const index of [0, 1]) await send(delta(index, {}, 'tool_calls'))
    end(response, model, usage)
  }
  const tokens = Array.from({ length: Math.ceil(characters / PIECE) }, (_, at) => tokenAt(at))
  const choices = [0, 1].map((index) => ({
    index,
    message: {
      role: 'assistant',
      content: text(index, 'content'),
      reasoning_content: text(index, 'reasoning_content'),
      tool_calls: CALLS.map(({ id, type, function: { name } }, at) => ({
        id,
        type,
        function: { name, arguments: text(index, FIELDS[2 + at]!) },
      })),
    },
    logprobs: { content: tokens },
    finish_reason: then === 'done' ? 'tool_calls' : null,
  }))
  const head = chunkOf('', [], null)
  return {
    behaviour,
    events: begin.length + chunks.length,
    output: {
      id: head['id']!,
      created: head['created']!,
      object: 'chat.completion',
      choices,
      usage: then === 'done' ? usage : null,
    },
    bytes: [...texts.values()].reduce((sum, one) => sum + Buffer.byteLength(one), 0),
  }
}

const CALLS = [0, 1].map((index) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: `tool-${index}`, arguments: '' },
}))

const tokenAt = (at: number): JsonObject => ({
  token: `t${at}`,
  logprob: -0.5,
  bytes: null,
  top_logprobs: [],
})

const pieceOf = (index: number, field: (typeof FIELDS)[number], piece: string, at: number): JsonObject => {
  const call = FIELDS.indexOf(field) - 2
  if (call >= 0) return delta(index, { tool_calls: [{ index: call, function: { arguments: piece } }] })
  const said = delta(index, { [field]: piece })
  return field === 'content' ? { ...said, logprobs: { content: [tokenAt(at)] } } : said
}

const long = (begin: string, characters: number): string =>
  (begin + 'wörd 😀"\\\n漢'.repeat(characters / 10)).slice(0, characters).toWellFormed()

const end = (response: ServerResponse, model: string, usage: JsonObject): void => {
  sendEvent(response, chunkOf(model, [], usage))
  response.end('data: [DONE]\n\n')
}
