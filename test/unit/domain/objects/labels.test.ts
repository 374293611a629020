import assert from 'node:assert/strict'
import { aliasName, tagName } from '../../../../src/domain/objects/labels.js'
import { versionName } from '../../../../src/domain/objects/version-name.js'

const DIGEST = 'oioZ7zgsCq4K7tfFQZRubx3ZGPXmFyaeoeWHHd8KUl8'

describe('a tag', () => {
  it('is words of letters, digits, hyphens and underscores', () => {
    for (const tag of [
      'reviewed',
      'my-tag',
      'under review',
      'Tag_1',
      'v0',
      'latest',
      'a'.repeat(256),
      'été',
      '漢字',
      '𝐀',
    ])
      assert.ok(tagName.is(tag), tag)
    for (const tag of [
      '',
      ' ',
      ' a',
      'a ',
      'a  b',
      'a.b',
      'a!',
      'a\nb',
      'a\u0000',
      'a'.repeat(257),
      '\ud800',
      7,
      null,
    ])
      assert.ok(!tagName.is(tag), String(tag))
  })

  it('is looked at in no time, however long it is', () => {
    assert.ok(!tagName.is('a '.repeat(5_000_000)))
    assert.ok(!aliasName.is(' '.repeat(5_000_000)))
  })
})

describe('an alias', () => {
  it('is never what names a version otherwise', () => {
    for (const alias of [
      'production',
      'my-deploy.v2',
      'has spaces',
      'v',
      'v1a',
      'Latest',
      'a'.repeat(128),
      `${DIGEST}a`,
      '😀',
    ])
      assert.ok(aliasName.is(alias), alias)
    for (const alias of [
      '',
      '  ',
      '\t',
      'latest',
      'v0',
      'v123',
      DIGEST,
      'a/b',
      'a:b',
      'a\u0000',
      'a'.repeat(129),
      7,
    ])
      assert.ok(!aliasName.is(alias), String(alias))
  })

  it('is told from the other names by its form', () => {
    assert.deepEqual(versionName('latest'), { by: 'latest' })
    assert.deepEqual(versionName('v012'), { by: 'index', index: 12 })
    assert.deepEqual(versionName(`v${'9'.repeat(400)}`), { by: 'index', index: Number.MAX_SAFE_INTEGER })
    assert.deepEqual(versionName(DIGEST), { by: 'digest', digest: DIGEST })
    assert.deepEqual(versionName('production'), { by: 'alias', alias: 'production' })
  })
})
