import assert from 'node:assert/strict'
import fc from 'fast-check'
import { SequenceInvalid } from '../../../src/engine/errors.js'
import {
  bytesOfTokens,
  checkTokens,
  END_OF_TEXT,
  promptTokens,
  tokenText,
  trainingTokens,
  VOCABULARY,
} from '../../../src/engine/tokens.js'

const message = fc.record({
  role: fc.oneof(fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool'), fc.string()),
  content: fc.string({ unit: 'grapheme' }),
})
const messages = fc.array(message, { maxLength: 6 })

const textOf = (tokens: readonly number[]): string => new TextDecoder().decode(bytesOfTokens(tokens))

describe('the tokens of a conversation', () => {
  it('begin the prompt of the next turn', () => {
    fc.assert(
      fc.property(messages, messages, fc.string(), (before, after, answer) => {
        const completion = [...new TextEncoder().encode(answer), END_OF_TEXT]
        const turn = [...promptTokens(before), ...completion]
        const next = promptTokens([...before, { role: 'assistant', content: answer }, ...after])
        assert.deepEqual(next.slice(0, turn.length), turn)
      }),
    )
  })

  it('are those of the prompt and the completion in training', () => {
    const question = { role: 'user', content: 'ping' }
    const { tokens, mask } = trainingTokens([question, { role: 'assistant', content: 'pong' }], 'all')
    const prompt = promptTokens([question])
    assert.deepEqual(tokens.slice(0, prompt.length), prompt)
    assert.deepEqual(
      mask,
      tokens.map((_, index) => index >= prompt.length),
    )
    assert.equal(textOf(tokens.slice(prompt.length)), 'pong')
    assert.equal(tokens.at(-1), END_OF_TEXT)
  })

  it('are masked in all or the last assistant message', () => {
    const conversation = [
      { role: 'assistant', content: 'one' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: 'three' },
      { role: 'user', content: 'four' },
    ]
    const trained = (turns: 'all' | 'last'): string => {
      const { tokens, mask } = trainingTokens(conversation, turns)
      return textOf(tokens.filter((_, index) => mask[index]))
    }
    assert.equal(trained('all'), 'onethree')
    assert.equal(trained('last'), 'three')
  })

  it('differ for different roles, known or not', () => {
    const roles = ['system', 'user', 'assistant', 'tool', 'critic', 'critics', '']
    const rendered = roles.map((role) => promptTokens([{ role, content: 'x' }]).join())
    assert.equal(new Set(rendered).size, roles.length)
  })

  it('are all in the vocabulary', () => {
    fc.assert(fc.property(messages, (conversation) => checkTokens(promptTokens(conversation))))
    for (const token of [-1, VOCABULARY, 1.5, NaN]) assert.throws(() => checkTokens([token]), SequenceInvalid)
  })

  it('have texts', () => {
    assert.equal(tokenText('a'.charCodeAt(0)), 'a')
    assert.equal(tokenText(END_OF_TEXT), '')
    assert.equal(tokenText(0xc3), '\ufffd')
    assert.deepEqual(bytesOfTokens([104, END_OF_TEXT, 105]), Uint8Array.of(104, 105))
  })
})
