import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonicalJson } from '../../../../src/kernel/json/canonical.js'
import { holdsDigits, withDigitsOf } from '../../../../src/kernel/json/digits.js'
import { jsonEqual } from '../../../../src/kernel/json/equal.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'
import { jsonText, memberText } from '../../../../src/kernel/json/text.js'
import { wellFormed } from '../../../../src/kernel/json/well-formed.js'

type Tree = bigint | number | string | boolean | null | readonly Tree[] | Members
interface Members {
  readonly [key: string]: Tree
}

/** Not such as objects put first; else in the order in which they are written. */
const key = fc
  .oneof(fc.string({ maxLength: 6 }), fc.constantFrom('__proto__', '', '-1', ' 9007199254740993', '"\\'))
  .filter((name) => !/^\d+$/.test(name))

const tree = fc.letrec<{ value: Tree }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }),
    fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
    fc.bigInt({ min: -(2n ** 64n) - 3n, max: -(2n ** 63n) }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(true, false, null, 1e21, -1e300, 2 ** 53, 2 ** 64),
    fc.string({ maxLength: 8 }),
    fc.constantFrom('[9007199254740993,', ':9007199254740993}', '\\', '"', '\\"9007199254740993'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((all) => Object.fromEntries(all)),
  ),
})).value

/** A text as whoever has integers of any size writes it. */
const written = (value: Tree, blank = ''): string => {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value))
    return `[${blank}${(value as readonly Tree[]).map((item) => written(item, blank)).join(`${blank},${blank}`)}${blank}]`
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}${blank}:${blank}${written(member, blank)}`,
  )
  return `{${blank}${members.join(`${blank},${blank}`)}${blank}}`
}

const held = fc.oneof(fc.array(tree), fc.dictionary(key, tree))

describe('whole numbers of any size', () => {
  it('are in memory what JSON has always made of them', () => {
    fc.assert(
      fc.property(held, fc.constantFrom('', ' ', '\n\t'), (value, blank) => {
        const text = written(value, blank)
        assert.deepEqual(parseJson(text), JSON.parse(text))
      }),
    )
  })

  it('keep every digit in the text that is made again, whatever stands around them', () => {
    fc.assert(
      fc.property(held, fc.constantFrom('', ' ', '\r\n'), (value, blank) => {
        assert.equal(jsonText(parseJson(written(value, blank))), written(value))
      }),
      { numRuns: 2000 },
    )
  })

  it('keep them in a copy that says so, where the copy has them', () => {
    const text = '{"a":9007199254740993,"b":9007199254740995,"c":[9007199254740997]}'
    const value = parseJson(text) as JsonObject
    assert.equal(jsonText(withDigitsOf(value, { ...value })), text)
    assert.equal(
      jsonText(withDigitsOf(value, { ...value, b: 1 })),
      '{"a":9007199254740993,"b":1,"c":[9007199254740997]}',
    )
    assert.equal(memberText(value, 'a'), '9007199254740993')
    assert.equal(memberText(value, 'c'), '[9007199254740997]')
    assert.ok(holdsDigits(value) && holdsDigits([{ value }]) && !holdsDigits({ a: [1] }))
  })

  it('are equal where all digits are, as is their canonical text', () => {
    fc.assert(
      fc.property(held, held, (a, b) => {
        const [one, same, other] = [written(a), written(a, ' '), written(b)].map(parseJson)
        assert.ok(jsonEqual(one, same))
        assert.equal(canonicalJson(one!), canonicalJson(same!))
        assert.equal(jsonEqual(one, other), canonicalJson(one!) === canonicalJson(other!))
      }),
    )
    const [a, b] = ['{"a":[9007199254740993]}', '{"a":[9007199254740992]}'].map(parseJson)
    assert.ok(!jsonEqual(a, b))
    assert.notEqual(canonicalJson(a!), canonicalJson(b!))
  })

  it('keep them where half of a surrogate pair is replaced', () => {
    const text = '{"a":[9007199254740993,"\\ud800"],"b":9007199254740993}'
    assert.equal(
      jsonText(wellFormed(parseJson(text))),
      '{"a":[9007199254740993,"\ufffd"],"b":9007199254740993}',
    )
  })

  it('become a word when they exceed the range of a double', () => {
    const text = `[1${'0'.repeat(400)},9007199254740993]`
    assert.equal(jsonText(parseJson(text)), '["Infinity",9007199254740993]')
  })

  it('may stand deeper than anybody would look', () => {
    const depth = 200_000
    parseJson(`${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`)
  })
})
