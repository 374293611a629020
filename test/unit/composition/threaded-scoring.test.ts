import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { scoringTools } from '../../../src/composition/scoring-tools.js'
import { startScoring } from '../../../src/composition/threaded-scoring.js'
import { compileBuiltIn } from '../../../src/domain/evaluations/scorers/compile.js'
import { decodeScorer, type BuiltInScorer } from '../../../src/domain/evaluations/scorers/scorer.js'
import type { ScorableRow } from '../../../src/domain/evaluations/scoring.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { parseJson } from '../../../src/kernel/json/parse.js'
import { scorerObject } from '../../api/evaluations/logged-run.js'

const builtIn = (className: string, settings: JsonObject = {}): BuiltInScorer => {
  const ref = `weave:///team/p/object/${className}:1`
  const decoded = decodeScorer(ref, scorerObject(className, settings))
  assert.ok(E.isRight(decoded) && decoded.right.kind === 'built-in')
  return decoded.right
}

const SCORERS = [
  builtIn('ExactMatchScorer'),
  builtIn('ContainsScorer'),
  builtIn('RegexScorer', { pattern: '^a+$' }),
  builtIn('JSONSchemaScorer', { schema: { type: 'string', maxLength: 3 } }),
  builtIn('NumericToleranceScorer', { absolute_tolerance: 1 }),
  builtIn('EditDistanceScorer'),
  builtIn('RougeScorer'),
  builtIn('ValidJSONScorer'),
  builtIn('StringMatchScorer'),
  builtIn('LevenshteinScorer'),
]

// Exact match compares numbers by their digits.
const ROWS = [
  '{"example": {"expected": "aaa"}, "output": "aaa"}',
  '{"example": {"expected": 9007199254740993}, "output": 9007199254740992}',
  '{"example": {"expected": 9007199254740993}, "output": 9007199254740993}',
  '{"example": {"expected": 1.0}, "output": 1}',
  '{"example": {}, "output": "\u00e9 text"}',
].map((text) => parseJson(text) as unknown as ScorableRow)

describe('scoring in a thread', () => {
  it('has the scores of the same scorers in this thread', async () => {
    const { scoreBuiltIn, stop } = startScoring()
    try {
      const inThread = SCORERS.map(scoreBuiltIn)
      const here = SCORERS.map(compileBuiltIn(scoringTools))
      for (const row of ROWS) {
        const scored = await Promise.all(inThread.map((score) => score(row)))
        assert.deepEqual(
          scored,
          here.map((compiled) => E.isRight(compiled) && compiled.right(row)),
        )
      }
    } finally {
      await stop()
    }
  })

  it('fails rows that end the thread twice, and those after a stop', async () => {
    const { scoreBuiltIn, stop } = startScoring(new URL('data:text/javascript,process.exit(3)'))
    const score = scoreBuiltIn(SCORERS[0]!)
    assert.deepEqual(await score(ROWS[0]!), { failed: 'The thread "scoring" ended: exit code 3.' })
    await stop()
    assert.deepEqual(await score(ROWS[0]!), { failed: 'The thread "scoring" is stopped.' })
  })
})
