import assert from 'node:assert/strict'
import { AnswerBuilder } from '../../../../src/gateway/answer/answer-builder.js'
import { ANSWER_LIMITS } from '../../../../src/gateway/answer/answer-memory.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'

const take = (answer: AnswerBuilder, index: number, delta: JsonObject, more: JsonObject = {}) =>
  answer.take({}, [{ index, delta, finish_reason: null, ...more }])

describe('the memory of a streamed answer', () => {
  it('is not outgrown by texts without end, wherever they stand', () => {
    const answer = new AnswerBuilder('acme/chat')
    const long = 'x'.repeat(100_000)
    for (let piece = 0; piece < 500; piece += 1) {
      const call = { index: piece, id: long, function: { name: long, arguments: long } }
      const delta = { content: long, role: long, [`k${piece}${long}`]: long, tool_calls: [call] }
      take(answer, piece % 4, delta, { finish_reason: long, logprobs: { [long]: [long] } })
      if (answer.memory.isDue) answer.memory.drain()
    }
    const inMemory = [...answer.jsonParts()].filter((part) => typeof part === 'string')
    assert.ok(inMemory.join('').length < 2 * ANSWER_LIMITS.inMemory)
    assert.equal(answer.headValue()?.['tallytree_truncated'], true)
  })

  it('is not outgrown by texts without number', () => {
    const answer = new AnswerBuilder('acme/chat')
    for (let at = 0; at < 10_000; at += 1) {
      take(answer, at % 128, { tool_calls: [{ index: at }] })
      take(answer, at % 128, { [`k${at}`]: 'x' })
    }
    const [choices] = [answer.headValue()?.['choices'] as readonly { readonly message: JsonObject }[]]
    const texts = choices.flatMap(({ message: { tool_calls, ...keys } }) => [
      ...((tool_calls ?? []) as readonly JsonObject[]).flatMap(() => ['name', 'arguments']),
      ...Object.keys(keys),
    ])
    assert.ok(texts.length < 3000)
    assert.equal(answer.headValue()?.['tallytree_truncated'], true)
  })

  it('is not outgrown by where its parts are, however small they are', () => {
    const answer = new AnswerBuilder('acme/chat', { ...ANSWER_LIMITS, inMemory: 0 })
    for (let at = 0; at < 30_000; at += 1) {
      take(answer, at % 2, { content: 'x' })
      answer.memory.drain()
    }
    assert.ok([...answer.jsonParts()].length < 20_000)
    assert.equal(answer.headValue()?.['tallytree_truncated'], true)
  })

  it('has a text that comes alone lie in one run', () => {
    const answer = new AnswerBuilder('acme/chat', { ...ANSWER_LIMITS, inMemory: 10 })
    for (let at = 0; at < 1000; at += 1) {
      take(answer, 0, { content: 'xyz' })
      if (answer.memory.isDue) answer.memory.drain()
    }
    assert.equal([...answer.jsonParts()].filter((part) => typeof part !== 'string').length, 1)
  })
})
