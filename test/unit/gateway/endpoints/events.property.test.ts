import assert from 'node:assert/strict'
import fc from 'fast-check'
import { answerRoom } from '../../../../src/gateway/answer/answer-room.js'
import { eventReader } from '../../../../src/gateway/completions/read-events.js'
import { messages } from '../../../../src/gateway/endpoints/messages.js'
import { responses } from '../../../../src/gateway/endpoints/responses.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { MemoryAccount } from '../../../../src/kernel/memory-account.js'
import { COUNTS } from '../../../counts.js'
import { arbitraryModestJson, troublesomeText } from '../../../support/arbitrary-json.js'
import { expectedOf } from '../../../support/upstreams/metered.js'

const UPSTREAM = 'chat-1-2026'
const PUBLIC = 'acme/"chat"'

/** An event as an upstream sends it, and as the client gets it. */
interface SentEvent {
  readonly sent: string
  readonly received: string
}

const TIMEOUTS = { connect_ms: 60_000, first_byte_ms: 60_000, idle_ms: 60_000, total_ms: 60_000 }

/** What the client gets of a stream that comes in these pieces. */
const receivedOf = async (endpoint: typeof responses, pieces: readonly Buffer[]): Promise<string> => {
  const memory = new MemoryAccount(Infinity).lease('')
  const body = (async function* () {
    for (const piece of pieces) yield Promise.resolve<Uint8Array>(piece)
  })()
  const ended = Promise.resolve('complete' as const)
  const answer = { status: 200, headers: {}, sentAt: Infinity, body, ended, giveUp: () => undefined }
  const reader = eventReader(answer, TIMEOUTS, memory)
  const passed = endpoint.answer({
    ...{ given: { stream: true }, publicModel: PUBLIC, expected: expectedOf(8), hidesRunningUsage: false },
    room: answerRoom(memory),
  })
  let text = ''
  for (let events = await reader.next(); events !== undefined; events = await reader.next())
    for (const event of events) {
      const taken = await passed.take(event)
      assert.deepEqual([taken.error, taken.invalid], [undefined, undefined])
      text += taken.text
    }
  reader.close()
  assert.ok(passed.isComplete())
  return text
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const indent = fc.constantFrom(0, 0, 0, 1, 2)
const long = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 70_000)
const ignored = fc.constantFrom('', '', '', ': keep-alive', ':', 'id: 7', 'retry: 1000', 'unknown', ': é😀')

/** An event with this value, in one of the forms in which it can be sent. */
const sentAs = (value: JsonObject): fc.Arbitrary<SentEvent> =>
  fc
    .record({ end: lineEnd, spaces: indent, comment: ignored, after: ignored, isTight: fc.boolean() })
    .map(({ end, spaces, comment, after, isTight }) => {
      const type = value['type'] as string
      const json = JSON.stringify(value, null, spaces)
      const space = isTight && spaces === 0 ? '' : ' '
      const lines = json.split('\n').map((line) => `data:${space}${line}`)
      // A reader drops one space at the beginning of a line.
      const sent = [comment, `event:${space}${type}`, ...lines, after].filter((line) => line !== '')
      const text = json.replaceAll(`"model":${spaces > 0 ? ' ' : ''}"${UPSTREAM}"`, (token) =>
        token.replace(`"${UPSTREAM}"`, JSON.stringify(PUBLIC)),
      )
      const received = text.split('\n').map((line) => `data: ${line}`)
      return {
        sent: [...sent, '', ''].join(end),
        received: [`event: ${type}`, ...received, '', ''].join('\n'),
      }
    })

/** Values of members that no event has, with names that are not read. */
const more = fc
  .tuple(troublesomeText(), arbitraryModestJson, long)
  .map(([text, value, length]): JsonObject => ({
    tomorrow: value,
    text_of_tomorrow: text + 'é😀'.repeat(length),
  }))

const framed = (type: string, frame: 'response' | 'message', value: JsonObject) =>
  more.map((members): JsonObject => ({
    type,
    [frame]: { id: 'id_1', ...members, model: UPSTREAM, ...value },
    ...members,
  }))

const written = troublesomeText({ maxLength: 40 })

const STREAMS = {
  responses: {
    endpoint: responses,
    begin: framed('response.created', 'response', { output: [], usage: null }),
    middle: fc.oneof(
      fc
        .tuple(written, more)
        .map(([delta, members]): JsonObject => ({ type: 'response.output_text.delta', delta, ...members })),
      framed('response.of_tomorrow', 'response', {}),
    ),
    end: framed('response.completed', 'response', {
      output: [],
      usage: { input_tokens: 1, output_tokens: 1 },
    }),
  },
  messages: {
    endpoint: messages,
    begin: framed('message_start', 'message', { content: [], usage: { input_tokens: 1 } }),
    middle: fc.oneof(
      fc.constant<JsonObject>({ type: 'ping' }),
      fc.tuple(written, more).map(([text, members]): JsonObject => {
        const delta: Json = { type: 'text_delta', text }
        return { type: 'content_block_delta', index: 0, delta, ...members }
      }),
    ),
    end: fc.constant<JsonObject>({ type: 'message_stop' }),
  },
}

const ofTomorrow = fc
  .tuple(fc.constantFrom('event_of.tomorrow', '__proto__', 'constructor', 'toString'), more)
  .map(([type, members]): JsonObject => ({ type, delta: 'text', ...members }))

describe('a stream of events of an API', () => {
  for (const [api, { endpoint, begin, middle, end }] of Object.entries(STREAMS))
    it(`reaches the client unchanged but for the model, however it is sent and cut: ${api}`, async () => {
      const events = fc
        .tuple(begin, fc.array(fc.oneof(middle, ofTomorrow), { maxLength: 6 }), end)
        .chain(([first, others, last]) => fc.tuple(...[first, ...others, last].map(sentAs)))
      const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 200_000 })), {
        minLength: 1,
        maxLength: 6,
      })
      await fc.assert(
        fc.asyncProperty(events, sizes, async (sent, cuts) => {
          const bytes = Buffer.from(sent.map((event) => event.sent).join(''))
          const least = Math.ceil(bytes.length / 2000)
          const pieces: Buffer[] = []
          for (let at = 0; at < bytes.length;) {
            const size = Math.max(least, cuts[pieces.length % cuts.length]!)
            pieces.push(bytes.subarray(at, at + size))
            at += size
          }
          assert.equal(await receivedOf(endpoint, pieces), sent.map(({ received }) => received).join(''))
        }),
        { numRuns: COUNTS.endpointStreams },
      )
    })
})
