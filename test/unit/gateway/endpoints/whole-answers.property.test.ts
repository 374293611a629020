import assert from 'node:assert/strict'
import fc from 'fast-check'
import { answerRoom } from '../../../../src/gateway/answer/answer-room.js'
import type { Endpoint } from '../../../../src/gateway/endpoints/endpoint.js'
import { messages } from '../../../../src/gateway/endpoints/messages.js'
import { responses } from '../../../../src/gateway/endpoints/responses.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { MemoryAccount } from '../../../../src/kernel/memory-account.js'
import { COUNTS } from '../../../counts.js'
import {
  arbitraryModestJson,
  arbitraryModestObject,
  troublesomeText,
} from '../../../support/arbitrary-json.js'
import { expectedOf } from '../../../support/upstreams/metered.js'
import { valuesIn } from '../../../support/upstreams/samples.js'

const text = troublesomeText()
const some = <A>(element: fc.Arbitrary<A>) => fc.array(element, { maxLength: 3 })
const object = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonObject> =>
  fc.record(members) as fc.Arbitrary<JsonObject>
const type = (name: string) => fc.constant(name)

const block = fc.oneof(
  object({ type: type('text'), text, citations: some(arbitraryModestObject) }),
  object({ type: type('thinking'), thinking: text, signature: text }),
  object({ type: type('redacted_thinking'), data: text }),
  object({ type: type('tool_use'), id: text, name: text, input: arbitraryModestObject }),
  object({ type: type('server_tool_use'), id: text, name: text, input: arbitraryModestObject }),
  object({ type: type('web_search_tool_result'), tool_use_id: text, content: arbitraryModestJson }),
)

const message = object({
  type: type('message'),
  id: text,
  model: text,
  role: type('assistant'),
  content: some(block),
  stop_reason: fc.constantFrom('end_turn', 'tool_use', 'refusal'),
  stop_sequence: fc.option(text),
  usage: fc.constant({ input_tokens: 3, output_tokens: 4 }),
})

const id = text.map((given) => `item_${given}`)
const item = fc.oneof(
  object({
    type: type('message'),
    ...{ id, role: type('assistant'), status: type('completed') },
    content: some(
      fc.oneof(
        object({ type: type('output_text'), text, annotations: some(arbitraryModestObject) }),
        object({ type: type('refusal'), refusal: text }),
      ),
    ),
  }),
  object({
    type: type('reasoning'),
    ...{ id, encrypted_content: text },
    summary: some(object({ type: type('summary_text'), text })),
  }),
  object({ type: type('function_call'), id, call_id: text, name: text, arguments: text }),
  object({ type: type('custom_tool_call'), id, call_id: text, name: text, input: text }),
  object({ type: type('of_tomorrow'), id, value: arbitraryModestJson }),
)

const response = object({
  object: type('response'),
  ...{ id: text, model: text, error: fc.constant(null) },
  status: fc.constantFrom('completed', 'incomplete'),
  output: some(item),
  usage: fc.constant({ input_tokens: 3, output_tokens: 4, total_tokens: 7 }),
})

const streamed = async (endpoint: Endpoint, whole: JsonObject) => {
  const answer = endpoint.answer({
    ...{
      given: { stream: true },
      publicModel: 'acme/chat',
      expected: expectedOf(8),
      hidesRunningUsage: false,
    },
    room: answerRoom(new MemoryAccount(Infinity).lease('')),
  })
  const { text: sent } = await answer.takeWhole(JSON.parse(JSON.stringify(whole)) as JsonObject)
  assert.ok(answer.isComplete() && answer.isAnswered())
  return { folded: answer.folded(), events: valuesIn(sent), metered: answer.metered() }
}

const shown = (whole: JsonObject) =>
  JSON.parse(JSON.stringify({ ...whole, model: 'acme/chat' })) as JsonObject

const eventOf = (events: readonly JsonObject[], name: string) =>
  events.filter((event) => event['type'] === name)

/** What a client puts together of the events of a message. */
const assembledBlocks = (events: readonly JsonObject[]): readonly JsonObject[] => {
  const blocks: Record<string, JsonObject['']>[] = []
  let json = ''
  for (const event of events) {
    const open = blocks.at(-1)
    const {
      text = '',
      thinking = '',
      signature = '',
      partial_json = '',
    } = (event['delta'] ?? {}) as Record<string, string>
    if (event['type'] === 'content_block_start') {
      assert.equal(event['index'], blocks.length)
      blocks.push({ ...(event['content_block'] as JsonObject) })
      json = ''
    }
    if (open === undefined) continue
    if (event['type'] === 'content_block_delta') {
      assert.equal(event['index'], blocks.length - 1)
      if (open['type'] === 'text') open['text'] = (open['text'] as string) + text
      if (open['type'] === 'thinking') {
        open['thinking'] = (open['thinking'] as string) + thinking
        open['signature'] = (open['signature'] as string) + signature
      }
      json += partial_json
    }
    if (event['type'] === 'content_block_stop' && json !== '') open['input'] = JSON.parse(json) as JsonObject
  }
  return blocks
}

describe('the events of a whole answer', () => {
  it('are put together to the same message', () =>
    fc.assert(
      fc.asyncProperty(message, async (whole) => {
        const { folded, events, metered } = await streamed(messages, whole)
        assert.deepEqual(folded, shown(whole))
        assert.deepEqual(assembledBlocks(events), shown(whole)['content'])
        assert.deepEqual([events[0]!['type'], events.at(-1)!['type']], ['message_start', 'message_stop'])
        assert.deepEqual([metered.metering, metered.usage?.total_tokens], ['reported', 7])
      }),
      { numRuns: COUNTS.endpointStreams },
    ))

  it('are put together to the same response', () =>
    fc.assert(
      fc.asyncProperty(response, async (whole) => {
        const { folded, events, metered } = await streamed(responses, whole)
        assert.deepEqual(folded, shown(whole))
        const numbers = events.map(({ sequence_number }) => sequence_number)
        assert.deepEqual(numbers, [...events.keys()])
        assert.deepEqual(events.at(-1)!['response'], shown(whole))
        assert.equal(events.at(-1)!['type'], `response.${whole['status'] as string}`)
        const done = eventOf(events, 'response.output_item.done')
        assert.deepEqual(
          done.map((event) => event['item']),
          shown(whole)['output'],
        )
        assert.equal(eventOf(events, 'response.output_item.added').length, done.length)
        const texts = ['response.output_text.delta', 'response.refusal.delta'].flatMap((name) =>
          eventOf(events, name),
        )
        const parts = (whole['output'] as readonly JsonObject[]).flatMap(({ type: kind, content }) =>
          kind === 'message' ? (content as readonly { text?: string; refusal?: string }[]) : [],
        )
        assert.deepEqual(
          texts.map(({ delta }) => delta).sort(),
          parts.map((part) => part.text ?? part.refusal).sort(),
        )
        assert.deepEqual([metered.metering, metered.usage?.total_tokens], ['reported', 7])
      }),
      { numRuns: COUNTS.endpointStreams },
    ))
})
