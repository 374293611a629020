import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { tallytree } from '../../support/command.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

const PAGE = readFileSync(new URL('../../../docs/prices.md', import.meta.url), 'utf8')

describe('tallytree prices import', () => {
  let service: RunningService
  let directory: string
  before(async () => {
    service = await startRunningService()
    directory = await mkdtemp(join(tmpdir(), 'tallytree-prices-'))
  })
  after(async () => {
    await service.remove()
    await rm(directory, { recursive: true, force: true })
  })

  const importing = async (content: string, ...more: readonly string[]) => {
    const file = join(directory, 'prices.json')
    await writeFile(file, content)
    return tallytree(['prices', 'import', '--url', service.address, ...more, file], {
      TALLYTREE_API_KEY: service.key,
    })
  }

  it('takes the file that its page shows, once', async () => {
    const [, shown] = /^```json\n([\s\S]*?)^```$/m.exec(PAGE)!
    const first = await importing(shown!, '--list', 'mine')
    assert.equal(first.code, 0, first.stderr)
    assert.equal(first.stdout, 'list mine, version 2026-01: 1 prices published, 0 withdrawn, 0 unchanged\n')
    const again = await importing(shown!, '--list', 'mine')
    assert.match(again.stdout, /0 prices published, 0 withdrawn, 1 unchanged/)
  })

  it('says what is wrong with a file', async () => {
    const odd = await importing('{"prices": [{"llm_id": 7}]}')
    assert.equal(odd.code, 2)
    assert.match(odd.stderr, /answered 422.*version.*llm_id/s)
    const none = await importing('[')
    assert.match(none.stderr, /not a JSON object/)
    const missing = await tallytree(['prices', 'import', join(directory, 'missing')], {
      TALLYTREE_API_KEY: service.key,
    })
    assert.deepEqual([missing.code, /cannot read/.test(missing.stderr)], [2, true])
  })
})
