import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  allArguments,
  argumentReader,
  fieldReader,
} from '../../../../../src/domain/evaluations/scorers/column-map.js'
import type { Json, JsonObject } from '../../../../../src/kernel/json/json.js'
import { arbitraryModestJson, arbitraryModestObject } from '../../../../support/arbitrary-json.js'
import { printFieldPath } from '../../../../../src/domain/query/field-path.js'

const example: JsonObject = {
  question: [{ text: 'How much?' }],
  'answer.text': '42',
  answer: { text: 'nested' },
  output: 'a column',
}
const row = { example, output: { answer: 'forty-two', steps: [1, 2] } }
const read = (path: string) => fieldReader(path)(row)

describe('column map', () => {
  it('reads fields of the output and of the example', () => {
    assert.equal(read('output.answer'), 'forty-two')
    assert.equal(read('output.steps.1'), 2)
    assert.equal(read('inputs.question.0.text'), 'How much?')
    assert.equal(read('question.0.text'), 'How much?')
  })

  it('prefers a column whose whole name is the path', () => {
    assert.equal(read('answer.text'), '42')
    assert.equal(read('inputs.answer.text'), 'nested')
    assert.equal(read('output'), 'a column')
  })

  it('reads a column that is called inputs', () => {
    assert.equal(fieldReader('inputs.x')({ example: { inputs: { x: 1 } }, output: null }), 1)
  })

  it('reads a dot inside a name behind a backslash', () => {
    assert.equal(fieldReader('a\\.b.c')({ example: { 'a.b': { c: 1 } }, output: null }), 1)
  })

  it('finds nothing where a step leads nowhere', () => {
    for (const path of [
      '',
      'x',
      'question.1',
      'question.text',
      'answer.text.0',
      'output.x',
      'output.answer.length',
    ])
      assert.equal(read(path), undefined, path)
    for (const path of ['constructor', '__proto__', 'answer.toString', 'inputs.__proto__'])
      assert.equal(read(path), undefined, path)
  })

  it('passes the output of the model as output, even where a column has that name', () => {
    assert.equal(argumentReader({}, 'output')(row), row.output)
    assert.equal(argumentReader({ output: 'output' }, 'output')(row), row.output)
    assert.equal(argumentReader({ output: 'output.answer' }, 'output')(row), 'forty-two')
    assert.equal(argumentReader({ target: 'output' }, 'target')(row), 'a column')
  })

  it('takes the first usual column as target when it is not mapped', () => {
    const target = (columns: JsonObject) => argumentReader({}, 'target')({ example: columns, output: null })
    assert.equal(target({ label: 6, answer: 5, reference: 4, expected_output: 3, expected: 2, target: 1 }), 1)
    assert.equal(target({ label: 6, answer: 5, reference: 4 }), 4)
    assert.equal(target({ label: null }), null)
    assert.equal(target({ other: 1 }), undefined)
  })

  it('does not fall back to another column when the mapped one is missing', () => {
    const reader = argumentReader({ target: 'gold' }, 'target')
    assert.equal(reader({ example: { target: 1 }, output: null }), undefined)
  })

  it('gives a scorer that takes any argument all columns, inputs, output and the mapped fields', () => {
    const all = allArguments({ context: 'question.0.text', answer: 'missing' })(row)
    assert.deepEqual(all, {
      inputs: example,
      question: example['question'],
      'answer.text': '42',
      output: row.output,
      context: 'How much?',
    })
  })

  it('reads any member of any value by its path', () => {
    fc.assert(
      fc.property(arbitraryModestObject, arbitraryModestJson, (columns, output) => {
        for (const [path, value] of members(output)) {
          const found = fieldReader(printFieldPath(['output', ...path]))({ example: {}, output })
          assert.deepEqual(found, value)
        }
        for (const [name, value] of Object.entries(columns))
          assert.equal(fieldReader(name)({ example: columns, output }), value)
      }),
    )
  })
})

function* members(value: Json, path: readonly string[] = []): Iterable<readonly [readonly string[], Json]> {
  yield [path, value]
  if (typeof value !== 'object' || value === null || path.length > 3) return
  for (const [key, member] of Object.entries<Json>(value as JsonObject))
    if (key !== '') yield* members(member, [...path, key])
}
