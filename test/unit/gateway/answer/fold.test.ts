import assert from 'node:assert/strict'
import { answerRoom } from '../../../../src/gateway/answer/answer-room.js'
import { MemoryAccount } from '../../../../src/kernel/memory-account.js'
import { AnswerFold } from '../../../../src/gateway/answer/fold.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'

const recorded = (...chunks: readonly JsonObject[]): JsonObject => {
  const fold = new AnswerFold('public', answerRoom(new MemoryAccount(Infinity).lease('')))
  for (const chunk of chunks) fold.take(chunk, (chunk['choices'] ?? []) as readonly JsonObject[])
  return fold.whole()!
}

const choiceIn = (answer: JsonObject): JsonObject => (answer['choices'] as readonly JsonObject[])[0]!

const messageOf = (...deltas: readonly Json[]): JsonObject =>
  choiceIn(recorded(...deltas.map((delta) => ({ choices: [{ index: 0, delta }] }))))['message'] as JsonObject

/** One member of the message that pieces of it make. */
const memberOf = (key: string, ...pieces: readonly Json[]): Json | undefined =>
  messageOf(...pieces.map((piece) => ({ [key]: piece })))[key]

const call = (id: string | undefined, name: string | undefined, given: Json, more: JsonObject = {}) => ({
  ...(id === undefined ? {} : { id }),
  function: { ...(name === undefined ? {} : { name }), arguments: given },
  ...more,
})

const callsOf = (...pieces: readonly JsonObject[]): Json | undefined =>
  memberOf('tool_calls', ...pieces.map((piece) => [piece]))

const whole = (id: string, name: string, given: Json) => ({
  id,
  function: { name, arguments: given },
  type: 'function',
})

describe('the record of a streamed answer', () => {
  describe('of blocks of thinking without an index', () => {
    const thinking = (text: string, more: JsonObject = {}) => [{ type: 'thinking', thinking: text, ...more }]

    it('has one block for its pieces, with the signature that follows', () => {
      const pieces = [thinking('think '), thinking('hard'), thinking('', { signature: 'c2ln' })]
      assert.deepEqual(memberOf('thinking_blocks', ...pieces), thinking('think hard', { signature: 'c2ln' }))
      const signed = [{ type: 'thinking', signature: 'c2ln' }]
      assert.deepEqual(
        memberOf('thinking_blocks', ...pieces.slice(0, 2), signed),
        thinking('think hard', { signature: 'c2ln' }),
      )
    })

    it('has another block after a signature', () => {
      const blocks = [thinking('a', { signature: 'one' }), thinking('b'), thinking('c', { signature: 'two' })]
      assert.deepEqual(memberOf('thinking_blocks', ...blocks), [
        ...thinking('a', { signature: 'one' }),
        ...thinking('bc', { signature: 'two' }),
      ])
    })

    it('keeps blocks without text apart', () => {
      const blocks = ['one', 'two'].map((data) => [{ type: 'redacted_thinking', data }])
      assert.deepEqual(memberOf('thinking_blocks', ...blocks), blocks.flat())
    })
  })

  describe('of parts', () => {
    const text = (of: string, more: JsonObject = {}) => ({ type: 'text', text: of, ...more })

    it('joins lists that grow inside a part', () => {
      const part = (of: string) => [{ type: 'thinking', thinking: [text(of)] }]
      assert.deepEqual(memberOf('content', part('Okay'), part(', so'), [text('4')], [text('2')]), [
        { type: 'thinking', thinking: [text('Okay, so')] },
        text('42'),
      ])
    })

    it('keeps parts apart that come in one piece or differ in another member', () => {
      const parts = [text('a'), text('b')]
      assert.deepEqual(memberOf('content', parts), parts)
      const cited = [text('a', { start_index: 1 }), text('b', { start_index: 7 })]
      assert.deepEqual(memberOf('annotations', ...cited.map((one) => [one])), cited)
    })

    it('keeps two kinds under one index apart', () => {
      const pieces: readonly JsonObject[] = [
        { index: 0, type: 'reasoning.text', text: 'a' },
        { index: 0, type: 'reasoning.encrypted', data: 'eA==' },
        { index: 0, type: 'reasoning.text', text: 'b' },
      ]
      assert.deepEqual(memberOf('reasoning_details', ...pieces.map((piece) => [piece])), [
        { index: 0, type: 'reasoning.text', text: 'ab' },
        { index: 0, type: 'reasoning.encrypted', data: 'eA==' },
      ])
    })

    it('joins base64 whose pieces are padded', () => {
      const pieces = ['one', 'twofour', '!'].map((one) => ({ data: Buffer.from(one).toString('base64') }))
      assert.deepEqual(memberOf('audio', ...pieces), { data: Buffer.from('onetwofour!').toString('base64') })
    })
  })

  describe('of tool calls', () => {
    it('has one call for pieces with different ids under one index', () => {
      const pieces = [call('a', 'f', '', { index: 0 }), call('b', undefined, '{"x"', { index: 0 })]
      assert.deepEqual(callsOf(...pieces, call('c', undefined, ':1}', { index: 0 })), [
        whole('a', 'f', '{"x":1}'),
      ])
      const named = [call('a', 'f', '{"x"', { index: 0 }), call('b', 'f', ':1}', { index: 0 })]
      assert.deepEqual(callsOf(...named), [whole('a', 'f', '{"x":1}')])
    })

    it('has two calls for two names, or two kinds, under one index', () => {
      const two = [call('a', 'f', '{}', { index: 0 }), call('b', 'f', '{}', { index: 0 })]
      assert.deepEqual(callsOf(...two), [whole('a', 'f', '{}'), whole('b', 'f', '{}')])
      const kinds = [
        { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{' } },
        { index: 0, type: 'custom', custom: { name: 'g', input: 'x' } },
        { index: 0, function: { arguments: '}' } },
        { index: 0, custom: { input: 'y' } },
      ]
      assert.deepEqual(callsOf(...kinds), [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
        { type: 'custom', custom: { name: 'g', input: 'xy' } },
      ])
    })

    it('has as many calls as a list has names', () => {
      const [f, g] = [call(undefined, 'f', ''), call(undefined, 'g', '')]
      assert.deepEqual(memberOf('tool_calls', [f, g]), [
        { ...f, type: 'function' },
        { ...g, type: 'function' },
      ])
    })

    it('goes on with arguments that are no object yet, although the name is repeated', () => {
      const one = (given: string) => call(undefined, 'f', given, { index: 0 })
      const joined = (given: string) => [{ ...call(undefined, 'f', given), type: 'function' }]
      assert.deepEqual(callsOf(one('1'), one(' 2')), joined('1 2'))
      assert.deepEqual(callsOf(one('{"a":"}'), one('"'), one('}')), joined('{"a":"}"}'))
      assert.deepEqual(callsOf(one('{"a":"\\"'), one('"}'), one('{}')), [
        ...joined('{"a":"\\""}'),
        ...joined('{}'),
      ])
    })

    it('goes on with a call whose type changes', () => {
      const [first, ...rest] = ['{"a"', ':', '1}'].map((given) =>
        call(undefined, undefined, given, { index: 0 }),
      )
      const pieces = [
        { ...first, type: 'function' },
        { ...rest[0], type: 'x' },
        { index: 0, type: 'y' },
        rest[1]!,
      ]
      assert.deepEqual(callsOf(...pieces), [{ function: { arguments: '{"a":1}' }, type: 'y' }])
    })

    it('ignores an index that is no number', () => {
      const pieces = [call('a', 'f', '{"x"', { index: 0 }), call(undefined, undefined, ':', { index: [[]] })]
      const last = call(undefined, undefined, '1}', { index: 0 })
      assert.deepEqual(callsOf(...pieces, last), [whole('a', 'f', '{"x":1}')])
      const [first, ...rest] = [
        call('a', 'f', '{', { index: [[]] }),
        call(undefined, undefined, '}', { index: 0 }),
      ]
      assert.deepEqual(callsOf(first, ...rest), [whole('a', 'f', '{}')])
    })
  })

  describe('of a member that changes its kind', () => {
    it('keeps the text', () => {
      assert.equal(memberOf('content', [], 'Hel', 'lo'), 'Hello')
      assert.equal(memberOf('content', 'Hel', [], 'lo'), 'Hello')
      assert.equal(memberOf('content', 'Hel', {}, 7, true, null, 'lo'), 'Hello')
      assert.equal(memberOf('content', -1, 'Hello'), 'Hello')
      assert.deepEqual(memberOf('function_call', { arguments: '{' }, { arguments: -1 }, { arguments: '}' }), {
        arguments: '{}',
      })
    })

    it('keeps an object or a list', () => {
      assert.deepEqual(memberOf('x', { a: 1 }, 'text', 7, [], [1]), { a: 1 })
      assert.deepEqual(memberOf('x', [1], 7, {}, { a: 1 }), [1, { a: 1 }])
    })
  })

  it('has a text once that each piece repeats, and appends what a model writes', () => {
    for (const key of ['provider', 'system_fingerprint', 'signature', 'x_text'])
      assert.equal(memberOf(key, 'acme', 'acme', 'acme'), 'acme', key)
    for (const key of ['content', 'refusal', 'reasoning', 'reasoning_content', 'thinking'])
      assert.equal(memberOf(key, 'ha', 'ha', '!'), 'haha!', key)
    assert.equal(memberOf('x_text', 'ha', 'ha', 'ha', '!', '!'), 'hahaha!!')
    assert.equal(memberOf('role', 'assistant', 'assistant'), 'assistant')
    assert.equal(messageOf({ id: 'one', content: 'a' }, { id: 'two', content: 'b' })['id'], 'one')
    assert.deepEqual(
      callsOf(call('a', 'get_', ''), call('a', 'get_weather', ''), call('a', 'get_weather', '{}')),
      [whole('a', 'get_weather', '{}')],
    )
  })

  it('is not doubled by a last event that is the whole answer', () => {
    const message = { role: 'assistant', content: 'Hello', tool_calls: [{ ...whole('a', 'f', '{}') }] }
    const last = {
      id: 'x',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    }
    const chunks = [
      { id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }] },
      { id: 'x', choices: [{ index: 0, delta: { content: 'lo' } }] },
      { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: null }] },
      last,
    ]
    assert.deepEqual(choiceIn(recorded(...chunks)), { index: 0, message, finish_reason: 'stop' })
    assert.deepEqual(choiceIn(recorded(last)), { index: 0, message, finish_reason: 'stop' })
  })

  it('keeps the digits of numbers', () => {
    const chunk =
      '{"choices":[{"index":0,"delta":{"x":{"seed":12345678901234567890}},"token_ids":[1.0]}],"y":1.0}'
    const answer = jsonText(recorded(parseJson(chunk) as JsonObject))
    for (const digits of ['"seed":12345678901234567890', '"token_ids":[1.0]', '"y":1.0'])
      assert.ok(answer.includes(digits), answer)
  })
})
