import assert from 'node:assert/strict'
import { compileRe2 } from '../../../../src/adapters/patterns/re2.js'

const matches = (source: string, text: string): boolean => {
  const compiled = compileRe2(source)
  assert.ok('pattern' in compiled, source)
  return compiled.pattern(text)
}

const errorOf = (source: string): string => {
  const compiled = compileRe2(source)
  return 'error' in compiled ? compiled.error : assert.fail(`${source} compiled`)
}

describe('patterns', () => {
  it('match anywhere in a text, unless they anchor themselves', () => {
    assert.ok(matches('prod', 'my-production'))
    assert.ok(matches('^europe.*', 'europe-west'))
    assert.ok(!matches('^europe.*', 'not-europe'))
    assert.ok(matches('^v\\d+$', 'v12'))
    assert.ok(matches('', 'anything'))
    assert.ok(matches('日本.', 'x日本語'))
    assert.ok(!matches('Prod', 'prod'))
    assert.ok(matches('(?i)Prod', 'prod'))
  })

  it('that are none are told where and why, without being quoted', () => {
    assert.equal(errorOf('ab**'), 'Invalid pattern at character 3: invalid nested repetition operator')
    assert.equal(errorOf('(a'), 'Invalid pattern at character 2: missing closing )')
    assert.match(errorOf('x(?=secret)'), /^Invalid pattern at character 2: [a-zA-Z ]+$/)
    assert.match(errorOf('a)'), /at character 2: unexpected \)/)
    assert.match(errorOf('\\1'), /at character 1: invalid escape sequence$/)
    assert.match(errorOf('abc\\'), /at character 4: trailing backslash/)
    for (const source of ['a{1001}', '((a{1000}){1000}){10}', '[z-a]', '\\p{Xx}', '*', ')'])
      assert.match(errorOf(source), /^Invalid pattern at character \d+: /, source)
  })

  it('nested as deeply as they can be either compile or are refused', () => {
    for (const source of [
      '('.repeat(512),
      '('.repeat(256) + ')'.repeat(256),
      '[['.repeat(256),
      '\\pL{99}'.repeat(70),
    ])
      assert.doesNotThrow(() => compileRe2(source.slice(0, 512)))
  })
})
