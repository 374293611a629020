import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { contentDigest, versionMetadata } from '../../../../src/domain/artifacts/content.js'
import { isLargerThan } from '../../../../src/kernel/json/measure.js'
import { decode } from '../../../../src/kernel/codec/codec.js'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { troublesomeText } from '../../../support/arbitrary-json.js'

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex')
const problemsOf = (metadata: JsonObject) => {
  const decoded = decode(versionMetadata)(metadata)
  return E.isRight(decoded) ? [] : decoded.left.map(({ loc }) => loc)
}
const bytesOf = (value: Json) => Buffer.byteLength(JSON.stringify(value))

describe('the metadata of a version', () => {
  it('may have values of so many bytes as JSON, to the byte, and tells which are larger', () => {
    for (const text of ['x', 'é', '"', '\u2028', '😀', '\u0001']) {
      const most = text.repeat(Math.floor(16_382 / (bytesOf(text) - 2)))
      const full = most + 'x'.repeat(16_384 - bytesOf(most))
      assert.deepEqual(problemsOf({ a: full }), [])
      assert.deepEqual(problemsOf({ a: 1, b: `${full}x`, c: full, d: [full] }), [['b'], ['d']])
    }
  })

  it('may have so many bytes in all', () => {
    const of = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'x'.repeat(16_000)]))
    assert.deepEqual(problemsOf(of(16)), [])
    assert.deepEqual(problemsOf(of(17)), [[]])
  })

  it('is measured as it is written', () =>
    fc.assert(
      fc.property(fc.array(troublesomeText()), fc.nat(200), (value, most) => {
        assert.equal(isLargerThan(most, value), bytesOf(value) > most)
      }),
    ))
})

describe('the digest of a version', () => {
  const content = {
    artifactType: 'model',
    metadata: { a: 1, b: [1, 2] },
    files: [1, 2].map((size) => ({ path: `file-${size}`, digest: 'd', size })),
  }

  it('is the same whatever order keys and files stand in', () => {
    const other = {
      files: content.files.toReversed().map(({ size, digest, path }) => ({ size, digest, path })),
      metadata: { b: [1, 2], a: 1 },
      artifactType: 'model',
    }
    assert.equal(contentDigest(sha256, other), contentDigest(sha256, content))
    assert.equal(
      contentDigest(sha256, { ...content, files: null }),
      contentDigest(sha256, { ...content, files: [] }),
    )
  })

  it('is another for any other content', () => {
    const [first, second] = content.files as [{ path: string; digest: string; size: number }, never]
    const all = [
      content,
      { ...content, artifactType: null },
      { ...content, artifactType: 'data' },
      { ...content, metadata: { a: 1, b: [2, 1] } },
      { ...content, metadata: {} },
      { ...content, files: [first] },
      { ...content, files: [{ ...first, size: 3 }, second] },
      { ...content, files: [{ ...first, digest: 'e' }, second] },
    ]
    assert.equal(new Set(all.map((one) => contentDigest(sha256, one))).size, all.length)
  })
})
