import type { RequestListener } from 'node:http'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { messageEvents } from '../../src/gateway/endpoints/messages.js'
import { responseEvents } from '../../src/gateway/endpoints/responses.js'
import { listen } from '../../src/api/server/http-server.js'

/** An upstream that speaks chat, responses and messages, and answers at once with a text of PIECES pieces, whole or streamed. */

const PIECE = ' a word of an answer'
const PIECES = Number(process.env['PIECES'] ?? 10)
const text = PIECE.repeat(PIECES)

const ANSWERS: Readonly<Record<string, JsonObject>> = {
  '/v1/chat/completions': {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_760_000_000, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 },
  },
  '/v1/responses': {
    ...{
      id: 'resp_1',
      object: 'response',
      created_at: 1_760_000_000,
      model: 'm',
      status: 'completed',
      error: null,
    },
    output: [
      {
        ...{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant' },
        content: [{ type: 'output_text', text, annotations: [] }],
      },
    ],
    usage: { input_tokens: 20, output_tokens: 12, total_tokens: 32 },
  },
  '/v1/messages': {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
    content: [{ type: 'text', text }],
    usage: { input_tokens: 20, output_tokens: 12 },
  },
}

const frame = (value: JsonObject, event?: string) =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`

/** The pieces of a text, each as an event. */
const inPieces = (event: string, value: JsonObject): string => {
  const { delta } = value
  if (event === 'response.output_text.delta') return frame({ ...value, delta: PIECE }, event).repeat(PIECES)
  return event === 'content_block_delta'
    ? frame({ ...value, delta: { ...(delta as JsonObject), text: PIECE } }, event).repeat(PIECES)
    : frame(value, event)
}

const chunk = (choices: readonly JsonObject[], usage: JsonObject | null) =>
  frame({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'm',
    choices,
    usage,
  })

const STREAMS: Readonly<Record<string, string>> = {
  '/v1/chat/completions': [
    chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }], null),
    chunk([{ index: 0, delta: { content: PIECE }, finish_reason: null }], null).repeat(PIECES),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], null),
    chunk([], { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 }),
    'data: [DONE]\n\n',
  ].join(''),
  '/v1/responses': responseEvents(ANSWERS['/v1/responses']!)
    .map(({ event, value }) => inPieces(event, value))
    .join(''),
  '/v1/messages': messageEvents(ANSWERS['/v1/messages']!)
    .map(({ event, value }) => inPieces(event, value))
    .join(''),
}
const wholes = Object.fromEntries(
  Object.entries(ANSWERS).map(([path, answer]) => [path, JSON.stringify(answer)]),
)

const handle: RequestListener = (request, response) => {
  const pieces: Buffer[] = []
  const path = request.url ?? ''
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const isStream = Buffer.concat(pieces).includes('"stream":true')
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    response.end(isStream ? STREAMS[path] : wholes[path])
  })
}

const { address } = await listen(handle, { host: '127.0.0.1', port: 0 })
console.log(address)
process.once('SIGTERM', () => process.exit(0))
