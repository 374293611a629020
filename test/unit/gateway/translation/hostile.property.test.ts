import assert from 'node:assert/strict'
import fc from 'fast-check'
import { Failure } from '../../../../src/application/failure.js'
import { messages } from '../../../../src/gateway/translation/messages.js'
import { responses } from '../../../../src/gateway/translation/responses.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { COUNTS } from '../../../counts.js'
import { chatRequest, eventsOf, wholeOf } from './translated.js'

const NAMES = (
  'type role content text name id call_id tool_use_id source url data media_type input output arguments tools schema ' +
  'input_schema parameters format function namespace user assistant system tool_use tool_result document image custom ' +
  'input_text input_image image_url function_call function_call_output json_schema base64 thinking reasoning'
).split(' ')

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<Json[]>(...NAMES, '', '{}', null, true, 0, -1, 1.5, 1e308),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES, '__proto__'), tie('value'), { maxKeys: 5 }),
  ),
}))

/** Objects that have some of the members, most of them as they should be. */
const like = (members: Readonly<Record<string, fc.Arbitrary<Json>>>): fc.Arbitrary<JsonObject> =>
  fc.record(
    Object.fromEntries(
      Object.entries(members).map(([key, usual]) => [
        key,
        fc.oneof({ weight: 20, arbitrary: usual }, { weight: 1, arbitrary: value }),
      ]),
    ),
    { noNullPrototype: true },
  )

const listOf = (items: fc.Arbitrary<Json>): fc.Arbitrary<Json> => fc.array(items, { maxLength: 3 })
const one = (...values: readonly Json[]): fc.Arbitrary<Json> => fc.constantFrom<Json[]>(...values)
const text = fc.string({ maxLength: 5 })

const source = fc.oneof(
  like({ type: one('base64'), media_type: one('image/png'), data: text }),
  like({ type: one('url'), url: text }),
  like({ type: one('text'), data: text }),
)
const block = fc.oneof(
  like({ type: one('text', 'input_text', 'output_text'), text }),
  like({ type: one('image', 'document'), source }),
  like({ type: one('input_image'), image_url: text }),
  like({ type: one('tool_result'), tool_use_id: text, content: text, is_error: one(true, false) }),
  like({ type: one('tool_use'), id: text, name: text, input: fc.dictionary(text, value) }),
  like({ type: one('thinking', 'redacted_thinking') }),
)
const turn = like({ role: one('user', 'assistant', 'system'), content: fc.oneof(text, listOf(block)) })
const item = fc.oneof(
  turn,
  like({ type: one('function_call'), call_id: text, name: text, arguments: text }),
  like({ type: one('custom_tool_call'), call_id: text, name: text, input: text }),
  like({ type: one('function_call_output'), call_id: text, output: fc.oneof(text, listOf(block)) }),
  like({ type: one('reasoning') }),
)
const tool = like({
  type: one('custom'),
  name: text,
  input_schema: fc.constant({}),
  parameters: fc.constant({}),
})
const request = like({
  model: text,
  max_tokens: one(1, 100),
  messages: fc.array(turn, { minLength: 1, maxLength: 4 }),
  input: fc.oneof(text, listOf(item)),
  tools: listOf(tool),
  system: fc.oneof(text, listOf(block)),
})

const call = like({
  index: one(0, 1, '0', '1'),
  id: text,
  function: like({ name: text, arguments: fc.oneof(text, one('{}', '{"input":"a"}', '[', '1')) }),
})
const message = like({
  content: fc.oneof(text, listOf(block)),
  reasoning_content: text,
  refusal: one('', null, 'no'),
  tool_calls: listOf(call),
})
const choice = fc.oneof(
  like({ index: one(0, '0', 1), delta: message, finish_reason: one(null, '', 'stop', 'length') }),
  like({ message, stop_reason: text }),
)
const chunk = like({
  choices: listOf(choice),
  usage: like({ prompt_tokens: one(1, 9), completion_tokens: one(1, 9) }),
})

for (const [name, translation] of Object.entries({ messages, responses }))
  describe(`the translation of ${name}`, () => {
    it('translates or refuses any request', () => {
      fc.assert(
        fc.property(request, fc.boolean(), (given, mayDrop) => {
          try {
            JSON.stringify(chatRequest(translation, given, mayDrop))
          } catch (error) {
            assert(error instanceof Failure && error.kind === 'invalid')
          }
        }),
        { numRuns: COUNTS.endpointStreams },
      )
    })

    it('translates any answer', () => {
      fc.assert(
        fc.property(fc.array(chunk, { maxLength: 6 }), request, (chunks, given) => {
          JSON.stringify(eventsOf(translation, chunks, given))
          for (const whole of chunks) JSON.stringify(wholeOf(translation, whole, given))
        }),
        { numRuns: COUNTS.endpointStreams },
      )
    })
  })
