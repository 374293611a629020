import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  childrenOf,
  memberAt,
  spanText,
  stringOf,
  valueAt,
  type JsonChild,
} from '../../../web/kit/json-scan.js'

/** The value of a span, read through the scanner alone. */
const valueOf = (text: string, child: JsonChild): unknown => {
  if (child.kind === 'object')
    return Object.fromEntries(childrenOf(text, child).map((one) => [one.key, valueOf(text, one)]))
  if (child.kind === 'array') return childrenOf(text, child).map((one) => valueOf(text, one))
  return child.kind === 'string'
    ? stringOf(spanText(text, child))
    : (JSON.parse(spanText(text, child)) as unknown)
}

describe('JSON that is shown', () => {
  it('is read as JSON.parse reads it, with any spaces', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space)
        assert.equal(JSON.stringify(valueOf(text, valueAt(text, 0))), JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it('keeps the digits of numbers', () => {
    const text = '{"a": [9007199254740993, 1.0, -1e400]}'
    const list = memberAt(text, valueAt(text, 0), 'a')!
    assert.deepEqual(
      childrenOf(text, list).map((child) => spanText(text, child)),
      ['9007199254740993', '1.0', '-1e400'],
    )
  })

  it('finds members by keys with any characters', () => {
    const text = JSON.stringify({ 'a"}': { '\\': 'x' } })
    assert.equal(spanText(text, memberAt(text, valueAt(text, 0), 'a"}', '\\')!), '"x"')
    assert.equal(memberAt(text, valueAt(text, 0), 'a', 'b'), undefined)
  })

  it('reads no more children than wanted', () => {
    const text = JSON.stringify(Array.from({ length: 1000 }, (_, n) => n))
    assert.equal(childrenOf(text, valueAt(text, 0), 101).length, 101)
  })
})
