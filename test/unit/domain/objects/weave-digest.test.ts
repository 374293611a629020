import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { contentDigest, internalProjectId, weaveText } from '../../../../src/domain/objects/weave-digest.js'
import { tableDigest } from '../../../../src/domain/tables/digests.js'
import { parseJson } from '../../../../src/kernel/json/parse.js'

const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')

/** Texts, and what `json.dumps(json.loads(text), sort_keys=True)` of Python 3.11 writes. */
const TEXTS: readonly (readonly [text: string, python: string])[] = [
  ['{"a":1}', '{"a": 1}'],
  [
    '{"b":1,"a":1.0,"c":[1e-5,1e16,0.0001,1e22,-0.0,1.5,123456789012345678901]}',
    '{"a": 1.0, "b": 1, "c": [1e-05, 1e+16, 0.0001, 1e+22, -0.0, 1.5, 123456789012345678901]}',
  ],
  [
    '{"\u00e9":"\u00fc\u007f\\n\\t\\"\\\\/ \u2028","z":"\ud83d\ude00"}',
    '{"z": "\\ud83d\\ude00", "\\u00e9": "\\u00fc\\u007f\\n\\t\\"\\\\/ \\u2028"}',
  ],
  [
    '{"\uffff":1,"\ud83d\ude00":2,"\ue000":3,"a":4}',
    '{"a": 4, "\\ue000": 3, "\\uffff": 1, "\\ud83d\\ude00": 2}',
  ],
  ['[true,false,null,"",{},[]]', '[true, false, null, "", {}, []]'],
  ['{"10":1,"9":2,"":3}', '{"": 3, "10": 1, "9": 2}'],
  ['[100000000000000000000.0,100000000000000000000]', '[1e+20, 100000000000000000000]'],
]

/** Contents and their digests, as Python `weave` 0.54.0 computes them in the project `e/p`. */
const DIGESTS = [
  ['{"a":1}', 'XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA'],
  ['{"r":"weave:///e/p/object/o:abc"}', 'amJlMXuo9Q6Kx1xBUnjNXm97RYEyJF8JajRSf0gAXBg'],
  [
    '{"s":"[{\\"r\\": \\"weave:///e/p/call/1\\", \\"b\\": 1.0, \\"\\\\u00e4\\": 1}]"}',
    'b1afnvq3bMf6LWfflR0wIxoyj2mXxMLQ7m2KpLQq35g',
  ],
  ['{"s":"see weave:///e/p/call/1"}', 'XAeaDrWHkRHr7V13lwaOC3CMahxDYdVuHPPYpnkv9xo'],
  ['{"r":"weave:///x"}', 'lyeYAQvC3mFTpezuAzEXDFYYDMzITdj7nWcTxFvgehU'],
] as const

describe('the digest of content', () => {
  for (const [text, python] of TEXTS)
    it(`is of the text that Python writes: ${text}`, () => assert.equal(weaveText(parseJson(text)), python))

  for (const [text, digest] of DIGESTS)
    it(`is that of the Python SDK: ${text}`, () =>
      assert.equal(contentDigest(sha256, parseJson(text)), digest))

  it('has internal references in JSON inside a string of JSON', () => {
    const deep = JSON.stringify(JSON.stringify({ r: 'weave:///e/p/op/f:v0' }))
    assert.ok(weaveText({ deep }).includes('weave-trace-internal:///ZS9w/op/f:v0'))
  })

  it('tells 1.0 from 1', () =>
    assert.notEqual(contentDigest(sha256, parseJson('[1.0]')), contentDigest(sha256, parseJson('[1]'))))

  it('has ids of projects without a slash', () => {
    assert.equal(internalProjectId('e/p'), 'ZS9w')
    for (const project of ['e/ÿÿÿ', 'e/проект', 'e/我的项目', 'e/??>>'])
      assert.doesNotMatch(internalProjectId(project), /\//)
  })
})

describe('the digest of a table', () => {
  it('is hexadecimal, of the digests of its rows', () =>
    assert.equal(
      tableDigest(sha256, [contentDigest(sha256, { a: 1 })]),
      '3326b2458d037af4f958a80f18aa545827317c2110bf40f7deeefed75276b7db',
    ))
})
