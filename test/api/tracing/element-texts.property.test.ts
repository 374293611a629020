import assert from 'node:assert/strict'
import fc from 'fast-check'
import { elementTexts } from '../../../src/api/tracing/element-texts.js'

const blanks = fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 2 })

/** JSON text of any value, with blanks wherever they may stand. */
const jsonText = fc.letrec<{ value: string; spaced: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string({ unit: 'binary', maxLength: 6 }).map((text) => JSON.stringify(text)),
    fc.constantFrom(
      '"\\\\"',
      '"\\""',
      '"\\\\\\""',
      '"[{"',
      '"]},"',
      '0',
      '-1.5e+3',
      'true',
      'false',
      'null',
      '[]',
      '{}',
    ),
    fc.array(tie('spaced'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc
      .array(fc.tuple(fc.constantFrom('"a"', '"batch"', '"\\"]"'), tie('spaced')), { maxLength: 3 })
      .map((members) => `{${members.map(([key, value]) => `${key}:${value}`).join()}}`),
  ),
  spaced: fc.tuple(blanks, tie('value'), blanks).map((parts) => parts.join('')),
}))

describe('the texts of the elements of a batch', () => {
  it('are those between the commas, without the blanks around', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(blanks, jsonText.value, blanks), { maxLength: 6 }),
        fc.array(fc.tuple(fc.constantFrom('"x"', '"batch"', '"\\u0062atch"'), jsonText.spaced), {
          maxLength: 2,
        }),
        fc.array(fc.tuple(fc.constantFrom('"x"', '"Batch"', '"batch "'), jsonText.spaced), { maxLength: 2 }),
        fc.constantFrom('"batch"', '"b\\u0061tch"'),
        blanks,
        (elements, before, behind, key, space) => {
          const batch = `[${elements.map((parts) => parts.join('')).join()}]`
          const member = ([name, value]: readonly [string, string]) => `${space}${name}${space}:${value}`
          const members = [
            ...before.map(member),
            `${space}${key}:${space}${batch}${space}`,
            ...behind.map(member),
          ]
          const text = `${space}{${members.join()}}${space}`

          const texts = elementTexts(text)

          assert.deepEqual(
            texts,
            elements.map(([, value]) => value),
          )
          const { batch: parsed } = JSON.parse(text) as { batch: unknown[] }
          assert.deepEqual(
            texts.map((one) => JSON.parse(one) as unknown),
            parsed,
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  it('are as deep and as many as they come', () => {
    const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000)
    const many = Array.from({ length: 200_000 }, (_, i) => `{"a":${i}}`)
    assert.deepEqual(elementTexts(`{"batch":[${[deep, ...many].join()}]}`), [deep, ...many])
    assert.deepEqual(elementTexts('{}'), [])
    assert.deepEqual(elementTexts('{"batch":[]}'), [])
  })
})
