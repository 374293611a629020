import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Json } from '../../../../src/kernel/json/json.js'
import { jsonText } from '../../../../src/kernel/json/text.js'
import { refsIn, refsInText } from '../../../../src/projections/calls/project.js'

const text = fc.oneof(
  fc.constantFrom('weave:///a/b/c:d', '"weave:///a', 'x"weave:///a', 'weave:///', ':///', 'a weave:///b'),
  fc.constantFrom(
    'weave:///a\nb',
    'weave:///\\"',
    '\\weave:///a',
    'weave:///a"weave:///b',
    '{"a":"weave:///c"}',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
)

const anyJson = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value

describe('references in a JSON text', () => {
  it('are those in its value, in the same order', () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        assert.deepEqual([...refsInText(jsonText(value))], [...refsIn(value)])
        assert.deepEqual([...refsInText(JSON.stringify(value, null, 1))], [...refsIn(value)])
      }),
      { numRuns: 3000 },
    )
  })
})
