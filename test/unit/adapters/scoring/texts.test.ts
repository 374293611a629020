import assert from 'node:assert/strict'
import fc from 'fast-check'
import { l, n } from 'js-rouge'
import { rouge } from '../../../../src/adapters/scoring/texts.js'

const word = fc.constantFrom(
  'the',
  'cat',
  "can't",
  'Dr.',
  'e.g.',
  '(1)',
  '"so',
  'so"',
  'sat.',
  'Why?',
  '\n',
  '3.5,',
)
const text = fc.array(word, { minLength: 1, maxLength: 20 }).map((words) => `a ${words.join(' ')}`)

describe('rouge', () => {
  it('is what the library computes with its own segmenter and tokenizer', () => {
    fc.assert(
      fc.property(text, text, (candidate, reference) => {
        assert.deepEqual(rouge(candidate, reference), {
          rouge1: n(candidate, reference, { n: 1 }),
          rouge2: n(candidate, reference, { n: 2 }),
          rougeL: l(candidate, reference),
        })
      }),
    )
  })
})
