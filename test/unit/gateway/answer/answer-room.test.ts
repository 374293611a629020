import assert from 'node:assert/strict'
import { answerRoom } from '../../../../src/gateway/answer/answer-room.js'
import { MemoryAccount } from '../../../../src/kernel/memory-account.js'
import { AnswerFold } from '../../../../src/gateway/answer/fold.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'

const MAX_PER_ANSWER = 4_000
const GUARANTEED = 500

/** Rooms of requests, by team. A team's share is the memory of two whole answers. */
const rooms = () => {
  const account = new MemoryAccount(16 * (MAX_PER_ANSWER - GUARANTEED))
  return (team: string) => answerRoom(account.lease(team), MAX_PER_ANSWER, GUARANTEED)
}

const chunk = (delta: JsonObject, more: JsonObject = {}) => [{ index: 0, delta, ...more }]

const take = (fold: AnswerFold, choices: readonly JsonObject[], more: JsonObject = {}) =>
  fold.take({ choices, ...more }, choices)

const recordOf = (fold: AnswerFold) => {
  const { choices, usage, tallytree_truncated } = fold.whole()!
  const [{ message, finish_reason }] = choices as unknown as [
    { readonly message: { readonly content: string }; readonly finish_reason: string },
  ]
  return { content: message.content, finish_reason, usage, isTruncated: tallytree_truncated === true }
}

describe('the memory for records of streamed answers', () => {
  it('keeps the beginning of a text, the finish reason and the usage of an answer that is too long', () => {
    for (const pieces of [1, 10, 400]) {
      const fold = new AnswerFold('m', rooms()('a'))
      const text = '0123456789'.repeat(800)
      const size = text.length / pieces
      for (let at = 0; at < text.length; at += size)
        take(fold, chunk({ content: text.slice(at, at + size) }), { id: 'x' })
      take(fold, chunk({ content: 'end', refusal: 'r' }, { finish_reason: 'length', x: 'y' }))
      take(fold, [], { usage: { prompt_tokens: 1, completion_tokens: 2 } })
      const { content, ...rest } = recordOf(fold)
      assert.ok(text.startsWith(content) && content.length > MAX_PER_ANSWER - 200, String(content.length))
      const usage = { prompt_tokens: 1, completion_tokens: 2 }
      assert.deepEqual(rest, { finish_reason: 'length', usage, isTruncated: true })
      assert.equal(fold.whole()!['id'], 'x')
    }
  })

  it('leaves a share to each team, and a guaranteed amount to each answer', () => {
    const room = rooms()
    const used = (team: string) => room(team).grant(MAX_PER_ANSWER)
    assert.deepEqual([used('a'), used('a'), used('a')], [4_000, 4_000, GUARANTEED])
    assert.deepEqual([used('b'), used('b'), used('b')], [4_000, 4_000, GUARANTEED])
    for (let answers = 0; answers < 50; answers += 1) used('a')
    assert.equal(used('c'), GUARANTEED)
  })

  it('gives back what an answer used', () => {
    const room = rooms()
    const answers = Array.from({ length: 4 }, () => room('a'))
    assert.deepEqual(
      answers.map((one) => one.grant(MAX_PER_ANSWER)),
      [4_000, 4_000, GUARANTEED, GUARANTEED],
    )
    for (const one of answers) one.release()
    assert.equal(room('a').grant(MAX_PER_ANSWER), 4_000)
  })
})
