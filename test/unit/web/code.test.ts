import assert from 'node:assert/strict'
import fc from 'fast-check'
import { codeTokens } from '../../../web/kit/code.js'

const kindsOf = (text: string, language: string) =>
  codeTokens(text, language).flatMap(({ text: part, kind }) => (kind === undefined ? [] : [[part, kind]]))

describe('the colours of code', () => {
  it('tell comments, strings, numbers and keywords apart', () => {
    assert.deepEqual(kindsOf('def f(x1): # a "comment"\n  return "a # b" + 12.5', 'python'), [
      ['def', 'keyword'],
      ['# a "comment"', 'comment'],
      ['return', 'keyword'],
      ['"a # b"', 'string'],
      ['12.5', 'number'],
    ])
    assert.deepEqual(kindsOf("const a = 'it\\'s' // b\n/* c\nd */ `e\n${f}`", 'TS'), [
      ['const', 'keyword'],
      ["'it\\'s'", 'string'],
      ['// b', 'comment'],
      ['/* c\nd */', 'comment'],
      ['`e\n${f}`', 'string'],
    ])
    assert.deepEqual(kindsOf('SELECT 1 -- one', 'sql'), [
      ['SELECT', 'keyword'],
      ['1', 'number'],
      ['-- one', 'comment'],
    ])
  })

  it('leave code of an unknown language as it is', () => {
    assert.deepEqual(codeTokens('return "a"', 'brainfuck'), [{ text: 'return "a"', kind: undefined }])
    assert.deepEqual(codeTokens('return "a"', 'constructor'), [{ text: 'return "a"', kind: undefined }])
  })

  it('change nothing of the text', () => {
    const code = fc.array(
      fc.constantFrom('"', "'", '`', '\\', '\n', '#', '//', '/*', '*/', '--', 'if', '1', ' '),
    )
    const language = fc.constantFrom('python', 'ts', 'go', 'sh', 'sql', 'yaml', 'json', '')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          code.map((parts) => parts.join('')),
        ),
        language,
        (text, name) => {
          const tokens = codeTokens(text, name)
          assert.equal(tokens.map((token) => token.text).join(''), text)
        },
      ),
    )
  })
})
