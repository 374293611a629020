import assert from 'node:assert/strict'
import fc from 'fast-check'
import { canonicalJson } from '../../../../src/kernel/json/canonical.js'
import { jsonEqual } from '../../../../src/kernel/json/equal.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { deeperThan, isLargerThan, jsonBytesAtMost } from '../../../../src/kernel/json/measure.js'
import { wellFormed } from '../../../../src/kernel/json/well-formed.js'

const key = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('__proto__', 'constructor', 'hasOwnProperty', '', '0', 'a', 'b'),
)

const anyJson = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(null, true, false, 0, -0, 1, '', 'a', '\u0000', '\ud800', 1e21, 5e-324),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.array(tie('value'), { maxLength: 4 }),
    // As parsing makes them: `__proto__` is a key of its own.
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries) as Json),
  ),
})).value

const parsed = (text: string): Json => JSON.parse(text) as Json

/** The same value with the keys of every object in another order. */
const shuffled = (value: Json): Json => {
  if (Array.isArray(value)) return value.map((item: Json) => shuffled(item))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, member]) => [name, shuffled(member)] as const)
  return Object.fromEntries(entries.reverse())
}

describe('the size of JSON', () => {
  it('is compared as that of its text', () => {
    fc.assert(
      fc.property(anyJson, fc.nat({ max: 60 }), (value, most) => {
        assert.equal(isLargerThan(most, value), Buffer.byteLength(JSON.stringify(value)) > most)
      }),
    )
  })
})

describe('equality of JSON', () => {
  it('holds for a value and what is read back of it, in any order of keys', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        assert.ok(jsonEqual(value, parsed(JSON.stringify(value))))
        assert.ok(jsonEqual(value, shuffled(value)))
        assert.ok(jsonEqual(shuffled(value), value))
      }),
    )
  })

  it('is equality of the canonical text', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (a, b) => {
        assert.equal(jsonEqual(a, b), canonicalJson(a) === canonicalJson(b))
        assert.equal(jsonEqual(a, b), jsonEqual(b, a))
        assert.equal(canonicalJson(a), canonicalJson(shuffled(a)))
      }),
      { numRuns: 300 },
    )
  })

  const differ: readonly (readonly [string, string])[] = [
    ['[1,2]', '[2,1]'],
    ['[]', '{}'],
    ['[]', 'null'],
    ['0', 'false'],
    ['1', '"1"'],
    ['""', 'null'],
    ['[null]', '[]'],
    ['{"a":null}', '{}'],
    ['{"a":1}', '{"b":1}'],
    ['{"__proto__":{}}', '{}'],
    ['{"__proto__":null}', '{"constructor":null}'],
    ['{"0":1}', '[1]'],
  ]
  for (const [a, b] of differ)
    it(`tells ${a} from ${b}`, () => {
      assert.equal(jsonEqual(parsed(a), parsed(b)), false)
      assert.equal(jsonEqual(parsed(b), parsed(a)), false)
      assert.notEqual(canonicalJson(parsed(a)), canonicalJson(parsed(b)))
    })

  for (const [a, b] of [
    ['1', '1.0'],
    ['1', '1e0'],
    ['0', '-0'],
    ['{"a":1,"a":2}', '{"a":2}'],
    ['"\\u0041"', '"A"'],
  ] as const)
    it(`does not tell ${a} from ${b}`, () => {
      assert.ok(jsonEqual(parsed(a), parsed(b)))
      assert.equal(canonicalJson(parsed(a)), canonicalJson(parsed(b)))
    })
})

describe('canonical text', () => {
  it('reads back as the value', () => {
    fc.assert(
      fc.property(anyJson, (value) =>
        assert.deepStrictEqual(parsed(canonicalJson(value)), parsed(JSON.stringify(value))),
      ),
    )
  })
})

describe('the measure of JSON', () => {
  it('is never less than the bytes of its text', () => {
    fc.assert(
      fc.property(anyJson, (value) =>
        assert.ok(jsonBytesAtMost(value) >= Buffer.byteLength(JSON.stringify(value))),
      ),
    )
  })

  it('says of every value whether it is over a bound, even where it stops early', () => {
    fc.assert(
      fc.property(anyJson, fc.nat(200), (value, enough) =>
        assert.equal(jsonBytesAtMost(value, enough) > enough, jsonBytesAtMost(value) > enough),
      ),
    )
  })

  it('looks at little of a value that is far over the bound', () => {
    let looked = 0
    const watched = new Proxy(
      Array.from({ length: 1_000_000 }, () => 'x'.repeat(100)),
      {
        get: (target, name, receiver) => {
          if (typeof name === 'string' && /^\d+$/.test(name)) looked += 1
          return Reflect.get(target, name, receiver) as unknown
        },
      },
    )
    assert.ok(jsonBytesAtMost(watched, 10_000) > 10_000)
    assert.ok(looked < 100)
  })
})

const depthOf = (value: unknown): number =>
  typeof value !== 'object' || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf))

describe('the depth of JSON', () => {
  it('counts lists and objects inside one another', () => {
    fc.assert(
      fc.property(anyJson, fc.nat(6), (value, most) =>
        assert.equal(deeperThan(value, most), depthOf(value) > most),
      ),
    )
  })

  for (const levels of [255, 256, 257, 100_000])
    it(`of ${levels} levels is ${levels > 256 ? 'over' : 'within'} 256`, () => {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
        ['[{"a":', '}]'],
      ] as const) {
        const times = open.length === 6 ? levels / 2 : levels
        if (!Number.isInteger(times)) continue
        const innermost = open === '[' ? '' : '0'
        const value = parsed(open.repeat(times) + innermost + close.repeat(times))
        assert.equal(deeperThan(value, 256), levels > 256, open)
      }
    })
})

describe('well-formed JSON', () => {
  it('has no half of a surrogate pair, in any string or key', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = JSON.stringify(wellFormed(value))
        assert.equal(/\\ud[89a-f]/.test(text), false)
        assert.ok(text.isWellFormed())
      }),
    )
  })

  it('is the same where nothing was wrong', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = value as Json
        if (JSON.stringify(before).includes('\\ud')) return
        assert.ok(jsonEqual(wellFormed(before), before))
      }),
    )
  })

  it('has U+FFFD in place of each half', () => {
    const value = parsed('{"\\ud800a": ["x\\udfffy", "\\ud83d\\ude00"], "__proto__": "\\udc00"}')
    assert.equal(JSON.stringify(wellFormed(value)), '{"\ufffda":["x\ufffdy","😀"],"__proto__":"\ufffd"}')
  })
})
