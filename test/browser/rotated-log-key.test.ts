import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { parseCheckpoint } from '../../src/kernel/tlog/note.js'
import { describeInBrowser, launch } from '../support/browser.js'
import { tallytree } from '../support/command.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { until } from '../support/until.js'

const PROJECT = 'acme/rotated'

describeInBrowser('the history after a rotation of the log key', () => {
  let service: RunningService
  let browser: Browser
  let scratch: string
  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'tallytree-rotated-'))
    service = await startRunningService()
    browser = await launch()
  })
  after(async () => {
    await browser.close()
    await service.remove()
    await rm(scratch, { recursive: true, force: true })
  })

  const checkpoint = async () => (await service.send('GET', '/api/log/checkpoint')).text
  const keys = async () =>
    (await tallytree(['log', 'key'], { TALLYTREE_DATA_DIR: service.dataDirectory })).stdout.split('\n')
  const keyIn = async (page: Page, selector: string) => {
    const commands = await page.locator(selector).innerText()
    return /--verifier '([^']+)'/.exec(commands)?.[1] ?? ''
  }
  const shownKeys = async (page: Page) => {
    await page.getByText('Verify it yourself').click()
    const [sealed, event] = [await keyIn(page, '.sealed pre'), await keyIn(page, 'aside pre:last-of-type')]
    assert.equal(sealed, event)
    return sealed
  }
  const check = async (page: Page, key: string) => {
    const [id] = (await page
      .getByRole('link', { name: 'Download the proof' })
      .getAttribute('download'))!.split('.')
    const proof = await service.send('GET', `/api/log/proof?event=${id}`)
    const file = join(scratch, 'proof')
    await writeFile(file, proof.text)
    return (await tallytree(['log', 'check', file, '--verifier', key])).code
  }

  it('names the key that signed the shown checkpoint, and the new one once that signs', async () => {
    await service.in(PROJECT).calls.start({ id: 'one' }).json()
    const page = await browser.newPage({ baseURL: service.address })
    await page.request.post('/api/sessions', { data: { api_key: service.key } })
    const [former] = await keys()
    const rotated = await tallytree(['log', 'rotate-key'], { TALLYTREE_DATA_DIR: service.dataDirectory })
    assert.equal(rotated.code, 0, rotated.stderr)
    const [added] = await keys()
    assert.notEqual(added, former)
    await service.restart()

    const { size } = parseCheckpoint(await checkpoint())
    const last = await service.send('GET', `/api/events?project_id=${PROJECT}&order=desc&limit=1`)
    const { position } = JSON.parse(last.text.split('\n')[0]!) as { position: string }
    await page.goto(`/${PROJECT}/history?types=all&event=${position}`)
    const shown = await shownKeys(page)
    assert.equal(shown, former)
    assert.equal(await check(page, shown), 0)
    assert.equal(await check(page, added!), 1)

    await service.in(PROJECT).calls.start({ id: 'two' }).json()
    await until(async () => parseCheckpoint(await checkpoint()).size > size)
    await page.reload()
    const next = await shownKeys(page)
    assert.equal(next, added)
    assert.equal(await check(page, next), 0)
  })
})
