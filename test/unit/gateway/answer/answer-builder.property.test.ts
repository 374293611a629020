import assert from 'node:assert/strict'
import fc from 'fast-check'
import { AnswerBuilder } from '../../../../src/gateway/answer/answer-builder.js'
import { canonicalJson } from '../../../../src/kernel/json/canonical.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { COUNTS } from '../../../counts.js'
import { arbitraryJson } from '../../../support/arbitrary-json.js'

const ROUNDS = COUNTS.answers

/** Takes chunks as a stream does that spools what memory may not hold. */
const taking = (bounds: { readonly inMemory: number; readonly spooled: number }) => {
  const answer = new AnswerBuilder('acme/chat', bounds)
  let spool = new Uint8Array()
  let appended = 0
  return {
    answer,
    take: (chunk: JsonObject) => {
      answer.take(chunk, chunk['choices'] as readonly JsonObject[])
      if (!answer.memory.isDue) return
      spool = Buffer.concat([spool, answer.memory.drain()])
      appended += 1
    },
    appended: () => appended,
    spooledBytes: () => spool.length,
    /** All of it, as its blob has it. */
    text: () =>
      Buffer.concat(
        [...answer.jsonParts()].map((part) =>
          typeof part === 'string'
            ? Buffer.from(part)
            : spool.subarray(part.offset, part.offset + part.length),
        ),
      ).toString('utf8'),
  }
}

const UNBOUNDED = { inMemory: Infinity, spooled: Infinity }

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ maxLength: 60 }))
const key = fc.oneof(
  fc.constantFrom('content', 'reasoning', 'reasoning_content', 'refusal', 'role', 'tool_calls', '__proto__'),
  fc.string({ unit: 'binary', maxLength: 3 }),
)
const toolCall = fc.record(
  {
    index: fc.nat(4),
    id: text,
    type: fc.constant('function'),
    function: fc.record({ name: text, arguments: text }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)
const tokens = fc.array(arbitraryJson, { maxLength: 3 })
const choice = fc.record(
  {
    index: fc.nat(3),
    delta: fc.oneof(
      fc.array(fc.tuple(key, text)).map((members) => Object.fromEntries(members)),
      fc.array(toolCall, { maxLength: 4 }).map((tool_calls) => ({ tool_calls })),
    ),
    logprobs: fc.option(fc.record({ content: tokens, refusal: tokens }, { requiredKeys: [] })),
    finish_reason: fc.option(fc.constantFrom('stop', 'length', 'tool_calls')),
  },
  { requiredKeys: ['delta'] },
)
const chunk = fc.record(
  {
    id: text,
    created: fc.nat(),
    choices: fc.array(choice, { maxLength: 4 }),
    usage: fc.option(fc.record({ prompt_tokens: fc.nat() })),
  },
  { requiredKeys: ['choices'] },
) as fc.Arbitrary<JsonObject>
const chunks = fc.array(chunk, { minLength: 1, maxLength: 40 })

describe('the record of a streamed answer', () => {
  it('is the same whether it was spooled or stayed in memory, and is canonical', () => {
    let spooled = 0
    fc.assert(
      fc.property(chunks, fc.integer({ min: 0, max: 400 }), (given, inMemory) => {
        const [long, short] = [taking({ inMemory, spooled: Infinity }), taking(UNBOUNDED)]
        for (const one of given) {
          long.take(one)
          short.take(one)
        }
        const whole = short.answer.headValue()
        spooled += long.appended()
        assert.equal(short.appended(), 0)
        assert.deepEqual(JSON.parse(long.text()), whole)
        assert.equal(long.text(), canonicalJson(whole as Json))
        assert.ok(!('tallytree_truncated' in whole!))
      }),
      { numRuns: ROUNDS },
    )
    assert.ok(spooled > ROUNDS)
  })

  it('takes no more memory and no more of a spool than it may, and says what it leaves out', () =>
    fc.assert(
      fc.property(chunks, fc.nat(400), fc.nat(2000), (given, inMemory, spooled) => {
        const [long, short] = [taking({ inMemory, spooled }), taking(UNBOUNDED)]
        for (const one of given) {
          long.take(one)
          short.take(one)
          assert.ok(!long.answer.memory.isDue)
        }
        assert.ok(long.spooledBytes() <= spooled)
        const [kept, whole] = [JSON.parse(long.text()) as JsonObject, short.answer.headValue()]
        const isWhole = JSON.stringify(sorted(kept)) === JSON.stringify(sorted(whole))
        assert.equal(kept['tallytree_truncated'] ?? false, !isWhole)
        const headValue = long.answer.headValue()
        assert.equal(headValue?.['tallytree_truncated'] ?? false, long.answer.memory.hasRest)
      }),
      { numRuns: ROUNDS },
    ))
})

const sorted = (value: Json): Json => JSON.parse(canonicalJson(value)) as Json
