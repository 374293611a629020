import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { BUILT_IN_SETTINGS } from '../../../../../src/domain/evaluations/scorers/built-in-settings.js'
import { compileBuiltIn } from '../../../../../src/domain/evaluations/scorers/compile.js'
import { decodeScorer } from '../../../../../src/domain/evaluations/scorers/scorer.js'
import type { Scored } from '../../../../../src/domain/evaluations/scoring.js'
import type { Json, JsonObject } from '../../../../../src/kernel/json/json.js'
import { arbitraryModestJson } from '../../../../support/arbitrary-json.js'
import { scoringTools } from '../../../../../src/composition/scoring-tools.js'

const NEEDED: JsonObject = { pattern: '^\\w+$', schema: { type: 'object' } }

const compiled = (className: string, settings: JsonObject = NEEDED) => {
  const scorer = decodeScorer('', { _class_name: className, ...settings })
  assert.ok(E.isRight(scorer) && scorer.right.kind === 'built-in')
  const result = compileBuiltIn(scoringTools)(scorer.right)
  return E.isRight(result) ? result.right : assert.fail(result.left)
}

const all = Object.keys(BUILT_IN_SETTINGS).map((className) => [className, compiled(className)] as const)

const valueOf = (scored: Scored) => ('value' in scored ? (scored.value as Record<string, number>) : undefined)

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', ' ', '😀', '😁', '\ud800'), maxLength: 40 })

/** Of characters, by the definition. */
const distanceBetween = (a: readonly string[], b: readonly string[]): number => {
  let above = [...b.keys(), b.length]
  for (const [row, character] of a.entries()) {
    const current = [row + 1]
    for (const [column, other] of b.entries())
      current.push(
        Math.min(
          above[column]! + (character === other ? 0 : 1),
          above[column + 1]! + 1,
          current[column]! + 1,
        ),
      )
    above = current
  }
  return above[b.length]!
}

describe('built-in scorers', () => {
  it('give a value or a failure for any row, the same when asked again', () => {
    fc.assert(
      fc.property(arbitraryModestJson, arbitraryModestJson, (output, target) => {
        for (const [className, score] of all) {
          const scored = score({ example: { target }, output })
          if ('failed' in scored) assert.equal(typeof scored.failed, 'string')
          else assert.equal(typeof scored.value, 'object', className)
          assert.deepEqual(score({ example: { target }, output }), scored, className)
        }
      }),
    )
  })

  it('find every value equal to itself', () => {
    const score = compiled('ExactMatchScorer')
    fc.assert(
      fc.property(arbitraryModestJson, (value: Json) => {
        const copy = JSON.parse(JSON.stringify(value)) as Json
        assert.deepEqual(score({ example: { target: copy }, output: value }), {
          value: { exact_match: true },
        })
      }),
    )
  })

  it('measure the edit distance as its definition does', () => {
    const score = compiled('LevenshteinScorer')
    fc.assert(
      fc.property(text, text, (output, target) => {
        const distance = valueOf(score({ example: { target }, output }))?.['levenshtein_distance']
        assert.equal(distance, distanceBetween(Array.from(output), Array.from(target)))
      }),
    )
  })

  it('score from 0 to 1, and 1 for equal texts', () => {
    const similarity = compiled('EditDistanceScorer')
    const rouge = compiled('RougeScorer')
    fc.assert(
      fc.property(text, text, (output, target) => {
        for (const score of [similarity, rouge])
          for (const [name, value] of Object.entries(valueOf(score({ example: { target }, output })) ?? {}))
            if (name !== 'edit_distance') assert.ok(value >= 0 && value <= 1, `${name} ${value}`)
        const same = valueOf(similarity({ example: { target: output }, output }))
        assert.deepEqual(same, { edit_distance: 0, similarity: 1 })
      }),
    )
  })

  it('find what JSON.stringify wrote to be JSON', () => {
    const isJson = compiled('ValidJSONScorer')
    fc.assert(
      fc.property(arbitraryModestJson, (value) => {
        const scored = isJson({ example: {}, output: JSON.stringify(value) })
        assert.deepEqual(scored, { value: { json_valid: true } })
      }),
    )
  })
})
