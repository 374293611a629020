import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonicalJson } from '../../../../src/kernel/json/canonical.js'
import { jsonEqual } from '../../../../src/kernel/json/equal.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { wellFormed } from '../../../../src/kernel/json/well-formed.js'

const again = (text: string): string => jsonText(parseJson(text))

describe('floats of a whole value', () => {
  for (const [text, written] of [
    ['[1.0]', '[1.0]'],
    ['[1.00, 1e0, 10E-1, 0.1e1]', '[1.0,1.0,1.0,1.0]'],
    ['[0.0, -0.0, 0e5]', '[0.0,-0.0,0.0]'],
    ['[1e5, 1.5e3, 1E+2]', '[100000.0,1500.0,100.0]'],
    ['[1e15, 1e16, 123456789012345678.0]', '[1000000000000000.0,1e+16,1.2345678901234568e+17]'],
    ['{"a": {"b": 2.0, "c": 2}}', '{"a":{"b":2.0,"c":2}}'],
    ['{"1": 1.0, "0": 2.0}', '{"0":2.0,"1":1.0}'],
  ] as const)
    it(`are written as floats again: ${text}`, () => {
      assert.equal(again(text), written)
      assert.equal(again(written), written)
    })

  for (const text of [
    '[1.5,0.1,-2.25,1e-7,1e+21,5e-324]',
    '["1.0","\\"1.0","1e5",{"1.0":"2.0"}]',
    '[true,null,-0.5]',
  ])
    it(`leaves other values as they are: ${text}`, () => assert.equal(again(text), text))

  it('are doubles in memory', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (values) => {
        assert.deepEqual(parseJson(JSON.stringify(values).replaceAll(/(\d)([,\]])/g, '$1.0$2')), values)
      }),
    )
  })

  it('equal whole numbers of the same value', () => {
    const [a, b] = [parseJson('{"a":[1.0]}'), parseJson('{"a":[1]}')]
    assert.ok(jsonEqual(a, b))
    assert.equal(canonicalJson(a), canonicalJson(b))
  })

  it('stay floats next to half of a surrogate pair', () =>
    assert.equal(jsonText(wellFormed(parseJson('[1.0,"\\ud800"]'))), '[1.0,"\ufffd"]'))

  it('keep their kind next to DEL and noncharacters, but not next to all that can mark them', () => {
    assert.equal(again('["\\uffff1","\ufffe",1.0]'), '["\uffff1","\ufffe",1.0]')
    const all = '"\x7f","\uffff","\ufffe","\ufdd0"'
    assert.equal(again(`[${all},1.0]`), `[${all},1]`)
  })
})

describe('numbers that are none in JSON', () => {
  for (const [text, written] of [
    ['NaN', '"NaN"'],
    ['[NaN,Infinity,-Infinity]', '["NaN","Infinity","-Infinity"]'],
    ['{"a": NaN, "b": "NaN", "c": "Infinity, NaN"}', '{"a":"NaN","b":"NaN","c":"Infinity, NaN"}'],
    ['[1e400, -1e400, 1.0]', '["Infinity","-Infinity",1.0]'],
    [`[-1${'0'.repeat(400)}.5]`, '["-Infinity"]'],
  ] as const)
    it(`become the words that Python writes: ${text.slice(0, 60)}`, () => assert.equal(again(text), written))

  for (const text of [
    '[nan]',
    '[Nan]',
    '[NaN1]',
    '[+Infinity]',
    '[-NaN]',
    '[Infinit]',
    '[1.]',
    '[.0]',
    '[01.0]',
    '[1.0.0]',
    '[-]',
    '[1e]',
    '["NaN]',
    '{NaN: 1}',
    '[1.0',
    '[0x10, 1.0]',
    '',
  ])
    it(`are refused when they are written otherwise: ${text}`, () =>
      assert.throws(() => parseJson(text), SyntaxError))

  it('parses or refuses any text as JSON.parse does, but for these words', () => {
    const piece = fc.oneof(
      fc.constantFrom('NaN', 'Infinity', '-', '1.0', '1e5', '"', '\\', '[', ']', '{', '}', ',', ':', ' '),
      fc.string({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        let expected: unknown
        try {
          expected = JSON.parse(text)
        } catch {
          if (!/NaN|Infinity/.test(text)) assert.throws(() => parseJson(text), SyntaxError)
          return
        }
        assert.deepEqual(parseJson(text), expected)
      }),
      { numRuns: 3000 },
    )
  })
})
