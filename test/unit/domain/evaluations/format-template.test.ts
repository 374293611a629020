import assert from 'node:assert/strict'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { formatTemplate } from '../../../../src/domain/evaluations/format-template.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { arbitraryModestObject, troublesomeText } from '../../../support/arbitrary-json.js'

const VARIABLES: JsonObject = {
  output: 'Paris',
  inputs: { question: 'Capital of France?', 'a.b': 'dotted', user: { name: 'Ada' }, none: null },
  list: [{ text: 'first' }, 'second'],
  score: 0.5,
}

const formatted = (template: string, variables = VARIABLES): string => {
  const text = formatTemplate(template, variables)
  assert.ok(E.isRight(text), E.isLeft(text) ? text.left : '')
  return text.right
}
const problemOf = (template: string, variables = VARIABLES): string => {
  const text = formatTemplate(template, variables)
  assert.ok(E.isLeft(text), E.isRight(text) ? text.right : '')
  return text.left
}

describe('a template of a prompt', () => {
  it('is filled with variables, their items and their attributes', () => {
    assert.equal(formatted('Is {output} right?'), 'Is Paris right?')
    assert.equal(formatted('{inputs[question]} {output}'), 'Capital of France? Paris')
    assert.equal(formatted('{inputs.question}'), 'Capital of France?')
    assert.equal(formatted('{inputs[user][name]} {inputs.user.name} {inputs[user].name}'), 'Ada Ada Ada')
    assert.equal(formatted('{inputs[a.b]}'), 'dotted')
    assert.equal(formatted('{list[0][text]} {list[1]}'), 'first second')
  })

  it('has doubled braces for braces', () => {
    assert.equal(formatted('{{"score": 1}} {{output}} {{{output}}}'), '{"score": 1} {output} {Paris}')
    assert.equal(formatted('{{}}'), '{}')
  })

  it('shows other values than strings as JSON, with all digits', () => {
    assert.equal(
      formatted('{inputs[user]} {list[0]} {score} {inputs[none]}'),
      '{"name":"Ada"} {"text":"first"} 0.5 null',
    )
    const wide = parseJson('{"n": 12345678901234567890}') as JsonObject
    assert.equal(formatted('{v}', { v: wide }), '{"n":12345678901234567890}')
  })

  it('ignores conversions and formats', () => {
    assert.equal(
      formatted('{score:.2f} {output!r} {output!s:>10} {inputs[question]:x}').slice(0, 9),
      '0.5 Paris',
    )
  })

  it('fails and names the variable that the row does not have', () => {
    assert.equal(problemOf('{output} {question}'), 'the row has no value for {question} of the prompt')
    assert.match(problemOf('{inputs[answer]}'), /\{inputs\[answer\]\}/)
    for (const missing of [
      '{}',
      '{0}',
      '{list[2]}',
      '{list[-1]}',
      '{output.x}',
      '{inputs..user}',
      '{inputs[user}',
    ])
      assert.match(problemOf(missing), /no value for /, missing)
    assert.ok(problemOf(`{${'x'.repeat(10_000)}}`).length < 200)
  })

  it('reads no inherited members', () => {
    for (const name of [
      '{constructor}',
      '{__proto__}',
      '{output.length}',
      '{inputs.constructor.name}',
      '{list.length}',
    ])
      assert.match(problemOf(name), /no value for /)
  })

  it('fails for a single brace', () => {
    for (const template of ['a } b', 'a { b', '{ "score": {output} }'])
      assert.match(problemOf(template), /the prompt has a single [{}]; write/)
  })

  it('is inserted once: braces in values are text', () => {
    assert.equal(formatted('{output}', { output: '{secret} }} {{' }), '{secret} }} {{')
    assert.equal(formatted('{output}', { output: "$& $1 $'" }), "$& $1 $'")
  })

  it('without braces is unchanged', () => {
    fc.assert(
      fc.property(troublesomeText(), arbitraryModestObject, (text, variables) => {
        const plain = text.replace(/[{}]/g, '')
        assert.equal(formatted(plain, variables), plain)
      }),
    )
  })

  it('with all braces doubled is the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('{', '}', 'a', '[', ':') }), (text) => {
        assert.equal(formatted(text.replace(/[{}]/g, '$&$&')), text)
      }),
    )
  })
})
