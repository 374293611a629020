import assert from 'node:assert/strict'
import { loadWebPages } from '../../../src/api/server/web-pages.js'
import { WEB } from '../../../src/files.js'
import { compiled } from '../../support/compiled.js'

const MOST_BYTES = 300_000

describe('the first page', () => {
  it('loads at most 300 KB, compressed; charts and editors come with their pages', async () => {
    await compiled('main')
    const { assets, manifest } = (await loadWebPages(WEB))!

    const sizes = [manifest.script, manifest.styles, ...manifest.imports].map(
      (name) => assets.get(name)!.compressed.gzip!.length,
    )

    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= MOST_BYTES, sizes.join(' + '))
  })
})
