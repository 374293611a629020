import assert from 'node:assert/strict'
import fc from 'fast-check'
import { preview } from '../../../../src/application/calls/preview.js'

const input = (value: unknown, characters = 200) => preview(JSON.stringify(value), 'input', characters)
const output = (value: unknown, characters = 200) => preview(JSON.stringify(value), 'output', characters)

describe('the preview of a call', () => {
  it('shows the last message of the user, or the first one', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      { role: 'tool', content: 'c' },
    ]
    assert.equal(input({ messages }), 'b')
    assert.equal(preview(JSON.stringify({ messages }), 'first input', 200), 'a')
    assert.equal(input({ messages: [{ role: 'system', content: 's' }] }), 's')
    assert.equal(input({ input: [{ role: 'user', content: [{ type: 'input_text', text: 't' }] }] }), 't')
    assert.equal(input({ messages: [] }), '[]')
  })

  it('shows the answer of any of the chat formats', () => {
    assert.equal(output({ choices: [{ message: { role: 'assistant', content: 'a' } }] }), 'a')
    assert.equal(output({ role: 'assistant', content: [{ type: 'text', text: 'b' }] }), 'b')
    const items = [{ type: 'message', content: [{ type: 'output_text', text: 'c' }] }]
    assert.equal(output({ output: items }), 'c')
  })

  it('shows tool calls by name and arguments', () => {
    const tool_calls = [{ function: { name: 'search', arguments: '{"q":1}' } }]
    assert.equal(output({ choices: [{ message: { content: null, tool_calls } }] }), 'search({"q":1})')
    assert.equal(
      output({ role: 'assistant', content: [{ type: 'tool_use', name: 'f', input: { a: 1 } }] }),
      'f({"a":1})',
    )
    assert.equal(output({ output: [{ type: 'function_call', name: 'g', arguments: '{}' }] }), 'g({})')
  })

  it('shows neither reasoning nor thinking, and the calls of hosted and custom tools', () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] }
    const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }
    const patch = { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin' }
    const search = { type: 'web_search_call', action: { query: 'q' } }
    assert.equal(
      output({ output: [reasoning, search, patch, message] }),
      'web_search_call({"query":"q"}) apply_patch(*** Begin) a',
    )
    const content = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'refusal', refusal: 'no' },
    ]
    assert.equal(output({ role: 'assistant', content }), 'no')
  })

  it('shows results of tools as text', () => {
    const result = { type: 'tool_result', content: [{ type: 'text', text: '7 degrees' }, { type: 'image' }] }
    assert.equal(input({ messages: [{ role: 'user', content: [result] }] }), '7 degrees [image]')
  })

  it('shows the prompt or the inputs of a model, and the text of completions', () => {
    assert.equal(input({ model: 'm', input: 'a', stream: true }), 'a')
    assert.equal(input({ model: 'm', input: ['a', 'b'] }), '["a","b"]')
    assert.equal(input({ model: 'm', prompt: 'a', max_tokens: 5 }), 'a')
    assert.equal(input({ input: 'a', other: 'b' }), 'input: a, other: b')
    assert.equal(output({ choices: [{ index: 0, text: 'b' }] }), 'b')
  })

  it('shows other values as members, a single one alone', () => {
    assert.equal(input({ self: { big: 1 }, question: 'q' }), 'q')
    assert.equal(input({ a: 1, b: 'x' }), 'a: 1, b: x')
    assert.equal(output('text\n  over   lines'), 'text over lines')
    assert.equal(output(null), 'null')
  })

  it('shows no base64 and keeps to its length', () => {
    assert.equal(input({ image: `data:image/png;base64,${'A'.repeat(5000)}` }), '[base64]')
    assert.equal(input({ text: 'word '.repeat(100) }, 10), 'word word…')
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 10, max: 50 }), (value, characters) => {
        assert.ok(input(value, characters).length <= characters + 1)
        assert.ok(output(value, characters).length <= characters + 1)
      }),
    )
  })

  it('shows the beginning of JSON that was cut off', () => {
    assert.equal(preview('{"text":"abc', 'input', 50), '{"text":"abc')
  })
})
