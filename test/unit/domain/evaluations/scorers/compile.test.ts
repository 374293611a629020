import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { compileBuiltIn } from '../../../../../src/domain/evaluations/scorers/compile.js'
import { decodeScorer } from '../../../../../src/domain/evaluations/scorers/scorer.js'
import type { ScorableRow } from '../../../../../src/domain/evaluations/scoring.js'
import type { Json, JsonObject } from '../../../../../src/kernel/json/json.js'
import { scoringTools } from '../../../../../src/composition/scoring-tools.js'

const compiled = (className: string, settings: JsonObject = {}) => {
  const scorer = decodeScorer('weave:///t/p/object/s:1', { _class_name: className, ...settings })
  if (E.isLeft(scorer)) return scorer
  assert.ok(scorer.right.kind === 'built-in')
  return compileBuiltIn(scoringTools)(scorer.right)
}

const scoreRow = (className: string, settings: JsonObject, row: ScorableRow) => {
  const score = compiled(className, settings)
  return E.isRight(score) ? score.right(row) : assert.fail(score.left)
}

const score = (className: string, output: Json, target: Json, settings: JsonObject = {}): Json => {
  const scored = scoreRow(className, settings, { example: { target }, output })
  return 'value' in scored ? scored.value : { failed: scored.failed }
}

const errorOf = (className: string, settings: JsonObject): string => {
  const result = compiled(className, settings)
  return E.isLeft(result) ? result.left : assert.fail('the scorer compiled')
}

describe('compileBuiltIn', () => {
  it('compares output and target as JSON', () => {
    const isEqual = (output: Json, target: Json, settings = {}) => {
      const value = score('ExactMatchScorer', output, target, settings)
      return (value as { exact_match: boolean }).exact_match
    }
    assert.ok(isEqual({ a: [1, null], b: 'x' }, { b: 'x', a: [1, null] }))
    assert.ok(!isEqual([1, 2], [2, 1]))
    assert.ok(!isEqual('1', 1))
    assert.ok(!isEqual(' Yes\n', 'yes'))
    assert.ok(isEqual(' Yes\n', 'yes', { ignore_case: true, trim: true }))
    assert.ok(!isEqual(null, ''))
  })

  it('finds all or any of the texts in the output', () => {
    const contains = (target: Json, settings = {}) =>
      score('ContainsScorer', 'Paris, France', target, settings)
    assert.deepEqual(contains('Paris'), { contains: true })
    assert.deepEqual(contains('paris'), { contains: false })
    assert.deepEqual(contains('paris', { ignore_case: true }), { contains: true })
    assert.deepEqual(contains(['Paris', 'Rome']), { contains: false })
    assert.deepEqual(contains(['Paris', 'Rome'], { match: 'any' }), { contains: true })
    assert.deepEqual(contains([]), { failed: 'target is not a text or a list of texts' })
  })

  it('needs no target when the texts to find are given', () => {
    const row = { example: {}, output: 'I am sorry, no' }
    assert.deepEqual(scoreRow('ContainsScorer', { values: ['sorry'] }, row), { value: { contains: true } })
  })

  it('matches a regular expression anywhere, or the whole output', () => {
    const matches = (output: Json, settings: JsonObject) => score('RegexScorer', output, null, settings)
    assert.deepEqual(matches('the year 1984', { pattern: '\\d{4}' }), { regex_match: true })
    assert.deepEqual(matches('the year 1984', { pattern: '\\d{4}', full_match: true }), {
      regex_match: false,
    })
    assert.deepEqual(matches('b', { pattern: 'a|b', full_match: true }), { regex_match: true })
    assert.deepEqual(matches('ab\n', { pattern: 'ab', full_match: true }), { regex_match: false })
    assert.deepEqual(matches('YES', { pattern: 'y', ignore_case: true }), { regex_match: true })
    assert.deepEqual(matches(7, { pattern: '7' }), { failed: 'output is not a text' })
  })

  it('says why a pattern does not compile', () => {
    assert.match(errorOf('RegexScorer', { pattern: '(?=a)' }), /: pattern: Invalid pattern at character 1: /)
    assert.match(errorOf('RegexScorer', { pattern: 'a)|(b', full_match: true }), /: pattern: Invalid pattern/)
    assert.match(errorOf('RegexScorer', { pattern: 'a'.repeat(1_001) }), /at most 1000 characters/)
  })

  it('accepts JSON text as Python does', () => {
    const isValid = (output: Json) => score('ValidJSONScorer', output, null)
    for (const text of [
      '{"a": [1, null]}',
      ' "x" ',
      '[NaN, -Infinity, {"NaN": Infinity}]',
      '["\\"NaN", NaN]',
    ])
      assert.deepEqual(isValid(text), { json_valid: true }, text)
    for (const text of ['', "{'a': 1}", '1NaN', '-NaN', '--Infinity', '{NaN: 1}', '["NaN]', 'nan', '[1,]'])
      assert.deepEqual(isValid(text), { json_valid: false }, text)
    assert.deepEqual(isValid({ a: 1 }), { failed: 'output is not a text' })
  })

  it('validates the output, or its JSON text, against a JSON Schema', () => {
    const schema = {
      $defs: { year: { type: 'integer', minimum: 1900 } },
      type: 'object',
      required: ['year'],
      properties: { year: { $ref: '#/$defs/year' }, code: { pattern: '^[A-Z]+$' } },
    }
    const validate = (output: Json) => score('JSONSchemaScorer', output, null, { schema })
    const valid = { json_valid: true, schema_valid: true, errors: [] }
    assert.deepEqual(validate({ year: 1984 }), valid)
    assert.deepEqual(validate('{"year": 1984, "code": "AB"}'), valid)
    assert.deepEqual(validate({ year: 1800 }), {
      json_valid: true,
      schema_valid: false,
      errors: ['/year must be >= 1900'],
    })
    assert.deepEqual(validate('{"year"'), {
      json_valid: false,
      schema_valid: false,
      errors: ['output is not JSON'],
    })
  })

  it('compares numbers and their texts within a tolerance', () => {
    const within = (output: Json, target: Json, settings = {}) =>
      score('NumericToleranceScorer', output, target, settings)
    assert.deepEqual(within(42, '42.0'), { within_tolerance: true, absolute_error: 0 })
    assert.deepEqual(within(' 4.5e1', 42, { absolute_tolerance: 3 }), {
      within_tolerance: true,
      absolute_error: 3,
    })
    assert.deepEqual(within(110, 100, { relative_tolerance: 0.05 }), {
      within_tolerance: false,
      absolute_error: 10,
    })
    assert.deepEqual(within('forty', 42), { within_tolerance: false, absolute_error: null })
    assert.deepEqual(within('0x2a', 42), { within_tolerance: false, absolute_error: null })
    assert.deepEqual(within(42, 'forty'), { failed: 'target is not a number' })
    assert.deepEqual(within(1.7e308, -1.7e308), { within_tolerance: false, absolute_error: null })
  })

  it('measures the edit distance in characters', () => {
    assert.deepEqual(score('EditDistanceScorer', 'kitten', 'sitting'), {
      edit_distance: 3,
      similarity: 1 - 3 / 7,
    })
    assert.deepEqual(score('EditDistanceScorer', '', ''), { edit_distance: 0, similarity: 1 })
    assert.deepEqual(score('EditDistanceScorer', 'AB', 'ab', { ignore_case: true }), {
      edit_distance: 0,
      similarity: 1,
    })
    assert.deepEqual(score('LevenshteinScorer', 'a😀b', 'a😁b'), { levenshtein_distance: 1 })
    assert.deepEqual(score('LevenshteinScorer', '😀', ''), { levenshtein_distance: 1 })
    assert.deepEqual(score('LevenshteinScorer', 'a'.repeat(20_001), ''), {
      failed: 'output has more than 20000 characters',
    })
  })

  it('finds the output in the target without case, as the StringMatchScorer of the SDK', () => {
    assert.deepEqual(score('StringMatchScorer', 'PARIS', 'Paris, France'), { string_in_input: true })
    assert.deepEqual(score('StringMatchScorer', 'Rome', 'Paris, France'), { string_in_input: false })
    assert.deepEqual(score('StringMatchScorer', { text: 'x' }, 'x'), { failed: 'output is not a text' })
  })

  it('scores ROUGE, and an empty output as 0', () => {
    const value = score('RougeScorer', 'police kill the gunman', 'police killed the gunman')
    assert.deepEqual(value, { rouge1: 0.75, rouge2: 1 / 3, rougeL: 0.75 })
    assert.deepEqual(score('RougeScorer', ' ', 'x'), { rouge1: 0, rouge2: 0, rougeL: 0 })
    assert.deepEqual(score('RougeScorer', 'x', ' '), { failed: 'target has no words' })
  })

  it('reads the arguments by the column map', () => {
    const column_map = { output: 'output.answer', target: 'inputs.gold.0' }
    const row = { example: { gold: ['Paris'], target: 'Rome' }, output: { answer: 'Paris' } }
    assert.deepEqual(scoreRow('ExactMatchScorer', { column_map }, row), { value: { exact_match: true } })
  })

  it('fails a row that lacks an argument', () => {
    assert.deepEqual(scoreRow('ExactMatchScorer', {}, { example: { question: 1 }, output: '' }), {
      failed:
        'the example has no column for target: map one with column_map, or name it target, expected, expected_output, reference, answer, label',
    })
    const column_map = { output: 'output.answer' }
    assert.deepEqual(scoreRow('ExactMatchScorer', { column_map }, { example: {}, output: 'text' }), {
      failed: 'the row has no field "output.answer", which column_map names for output',
    })
  })
})
