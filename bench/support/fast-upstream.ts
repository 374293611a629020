import type { RequestListener, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from '../../src/api/server/http-server.js'

/** An upstream that answers at once, or streams so many chunks of so many characters, one every so many milliseconds. */
const CHUNKS = Number(process.env['CHUNKS'] ?? 50)
const CHARACTERS = Number(process.env['CHARACTERS'] ?? 5)
const EVERY_MS = Number(process.env['EVERY_MS'] ?? 100)
/** Before a whole answer. */
const WHOLE_AFTER_MS = Number(process.env['WHOLE_AFTER_MS'] ?? 0)

const usage = { prompt_tokens: 20, completion_tokens: 12, total_tokens: 32 }
const head = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'm' }
const whole = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'The answer to life, the universe and everything is 42.' },
      finish_reason: 'stop',
    },
  ],
  usage,
})
const chunk = (choices: readonly object[], used: object | null = null) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, usage: used })}\n\n`
const word = chunk([
  { index: 0, delta: { content: ' word'.repeat(Math.ceil(CHARACTERS / 5)) }, finish_reason: null },
])

const handle: RequestListener = (request, response) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    if (!Buffer.concat(pieces).includes('"stream":true')) {
      const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end(whole)
      if (WHOLE_AFTER_MS > 0) setTimeout(answer, WHOLE_AFTER_MS)
      else answer()
      return
    }
    void stream(response)
  })
}

const stream = async (response: ServerResponse): Promise<void> => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]))
  // The service passes a stream on from its first content.
  response.write(word)
  for (let sent = 0; sent < CHUNKS && !response.destroyed; sent += 1) {
    await sleep(EVERY_MS)
    response.write(word)
  }
  response.write(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]))
  response.write(chunk([], usage))
  response.end('data: [DONE]\n\n')
}

const { address } = await listen(handle, { host: '127.0.0.1', port: 0 })
console.log(address)
process.once('SIGTERM', () => process.exit(0))
