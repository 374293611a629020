import assert from 'node:assert/strict'
import fc from 'fast-check'
import { shownInputs } from '../../../web/traces/conversation.js'
import { otherInputs } from '../../../web/traces/other-inputs.js'

const of = (inputs: object, op = '') => otherInputs(JSON.stringify(inputs), shownInputs(inputs, op))
const messages = [{ role: 'user', content: 'hi' }]

describe('inputs that are no messages', () => {
  it('are parameters if they are short, the model first', () => {
    const { parameters, json } = of({ temperature: 0.2, seed: 7, model: 'gpt-4o', messages, stream: true })
    assert.deepEqual(parameters, [
      ['model', 'gpt-4o'],
      ['temperature', '0.2'],
      ['seed', '7'],
      ['stream', 'true'],
    ])
    assert.equal(json, '')
  })

  it('are JSON otherwise', () => {
    const documents = ['one', 'two']
    const { json } = of({ messages, documents, response_format: { type: 'json' }, tools: [{ name: 'f' }] })
    assert.deepEqual(JSON.parse(json), { documents, response_format: { type: 'json' } })
  })

  it('keep their digits', () => {
    const text = '{"messages": [], "seed": 12345678901234567890, "list": [1.0]}'
    const { parameters, json } = otherInputs(text, new Set(['messages']))
    assert.deepEqual(parameters, [['seed', '12345678901234567890']])
    assert.equal(json, '{"list": [1.0]}')
  })

  it('include what the messages leave out', () => {
    assert.deepEqual(of({ messages, system: 'a', instructions: 'b' }).parameters, [['instructions', 'b']])
    assert.deepEqual(of({ messages, input: 'c' }).parameters, [['input', 'c']])
    assert.deepEqual(JSON.parse(of({ model: 'm', input: 'x', prompt: { id: 'p' } }).json), {
      prompt: { id: 'p' },
    })
    assert.deepEqual(JSON.parse(of({ messages, tools: ['a'] }).json), { tools: ['a'] })
  })

  it('are all inputs that are not shown as messages', () => {
    const inputs = fc.dictionary(fc.string(), fc.jsonValue()).map((rest) => ({ ...rest, messages }))
    fc.assert(
      fc.property(inputs, (given) => {
        const shown = shownInputs(given)
        const { parameters, json } = of(given)
        const others = json === '' ? {} : (JSON.parse(json) as object)
        const named = [...parameters.map(([name]) => name), ...Object.keys(others)]
        const expected = Object.keys(given).filter((name) => !shown.has(name))
        assert.deepEqual(named.sort(), expected.sort())
      }),
    )
  })
})
