import assert from 'node:assert/strict'
import { rouge } from '../../../../src/adapters/scoring/texts.js'

const rounded = (candidate: string, reference: string) =>
  Object.values(rouge(candidate, reference)).map((score) => Math.round(score * 1000) / 1000)

describe('rouge', () => {
  it('computes the figures of the reference implementation', () => {
    // rouge_score 0.1.2, `RougeScorer(['rouge1', 'rouge2', 'rougeL'])`, of texts in lower case.
    assert.deepEqual(rounded('answer 2 yes ', 'answer 2 yes'), [1, 1, 1])
    assert.deepEqual(rounded('{"a": 0}', 'other 0'), [0.5, 0, 0.5])
    assert.deepEqual(
      rounded("the cat's on the mat. it sat.", 'it sat: the cat on mat'),
      [0.857, 0.333, 0.571],
    )
    assert.deepEqual(rounded('a b c d', 'd c b a'), [1, 0, 0.25])
    assert.deepEqual(rounded('a a a', 'a a'), [0.8, 0.667, 0.8])
    assert.deepEqual(rounded('a', 'a'), [1, 0, 1])
    assert.deepEqual(rounded('e.g. 3.5, (1)', 'e g 3 5 1'), [1, 1, 1])
  })

  it('knows words of other scripts', () => {
    assert.deepEqual(rounded('кошка спит.', 'кошка, спит'), [1, 1, 1])
    assert.deepEqual(rounded('été\u0301', 'hiver'), [0, 0, 0])
  })
})
