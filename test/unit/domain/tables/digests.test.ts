import assert from 'node:assert/strict'
import { isDigest } from '../../../../src/domain/tables/table.js'

describe('the digest of a table or row', () => {
  it('may have the form of earlier releases', () => {
    assert.ok(isDigest('AVq9f1zFei3ZS3WQ8ErYCEJzkF7jPsXOvq5iJ2qXXGI'))
    assert.ok(isDigest('3326b2458d037af4f958a80f18aa545827317c2110bf40f7deeefed75276b7db'))
  })

  for (const text of ['', 'latest', 'A'.repeat(42), 'A'.repeat(64), `${'a'.repeat(42)}-`, 'a'.repeat(65)])
    it(`is not ${text === '' ? 'empty' : text}`, () => assert.ok(!isDigest(text)))
})
