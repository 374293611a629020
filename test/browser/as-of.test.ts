import assert from 'node:assert/strict'
import { READS_AS_OF } from '../../web/kit/as-of-pages.js'
import { accepted } from '../api/calls/given.js'
import { describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { recordThread, recordTrace } from './given.js'

const PROJECT = 'acme/then'

describeInBrowser('pages as of an earlier state', () => {
  let pages: Pages
  let position: string
  let time: string
  before(async () => {
    pages = await startPages(1, 8)
    const { service } = pages
    await recordTrace(service, PROJECT, 'old', [{ start: { op_name: 'former' }, end: { output: 'then' } }])
    await recordThread(service, PROJECT, 'a-thread', [{ start: { inputs: { q: 'First?' } } }])
    const newest = await service.send('GET', '/api/events?order=desc&limit=1')
    const event = JSON.parse(newest.text) as { position: string; recorded_at: string }
    position = event.position
    time = event.recorded_at
    while (Date.now() <= Date.parse(time)) await new Promise((resolve) => setTimeout(resolve, 1))
    await recordTrace(service, PROJECT, 'new', [{ start: { op_name: 'latter' } }])
    accepted(
      await service.post('/call/update', { project_id: PROJECT, call_id: 'old-0', display_name: 'renamed' }),
    )
    await recordThread(service, PROJECT, 'later', [{ start: { inputs: { q: 'Second?' } } }], 'later')
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  it('send the header to reads that take it', async () => {
    const { paths } = accepted(await pages.service.send('GET', '/openapi.json')) as {
      paths: Record<string, Record<string, { parameters?: { name?: string; $ref?: string }[] }>>
    }
    for (const path of READS_AS_OF) {
      const operations = Object.values(paths[path] ?? {})
      const texts = operations.map(({ parameters }) => JSON.stringify(parameters ?? []))
      assert.ok(
        texts.some((text) => text.includes('Tallytree-As-Of')),
        path,
      )
    }
  })

  it('show a list and its traces as they were, and keep that in their links', async () => {
    const page = await pages.open(`/${PROJECT}/traces?as_of=${position}`)
    await page.getByRole('link', { name: 'former' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'latter' }).count(), 0)
    await page.getByText(/^As of position/).waitFor()
    await page.getByRole('link', { name: 'former' }).click()
    await page.waitForURL(new RegExp(`traces/old.*as_of=${position}`))
    await page.getByRole('heading', { name: 'former' }).first().waitFor()
    for (const [name, path] of [
      ['Threads', 'threads'],
      ['Usage', 'usage'],
      ['Traces', 'traces'],
    ] as const) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click()
      await page.waitForURL(new RegExp(`/${path}\\?.*as_of=${position}`))
      await page.getByText(/^As of position/).waitFor()
    }
    await page.getByRole('link', { name: 'former' }).waitFor()
    await page.getByRole('button', { name: 'Back to now' }).click()
    await page.getByRole('link', { name: 'latter' }).waitFor()
    await page.getByRole('link', { name: 'renamed' }).waitFor()
    assert.doesNotMatch(page.url(), /as_of/)
    assert.equal(await page.getByText(/^As of position/).count(), 0)
  })

  it('take a time or a position in a dialog, and say which position a time is', async () => {
    const page = await pages.open(`/${PROJECT}/threads`)
    await page.getByText('Second?').waitFor()
    await page.getByRole('button', { name: 'As of …' }).click()
    await page.getByLabel('Or a position of the log').fill('12x')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('A position has only digits.').waitFor()
    await page.getByLabel('Or a position of the log').fill(position)
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('Second?').waitFor({ state: 'detached' })
    await page.getByText('First?').waitFor()
    await page.goto(`${pages.service.address}/${PROJECT}/threads?as_of=${time}`)
    await page
      .getByText(new RegExp(`^As of .*, position ${position.replace(/\B(?=(\d{3})+$)/g, '.')}$`))
      .waitFor()
    await page.getByText('First?').waitFor()
    assert.equal(await page.getByText('Second?').count(), 0)
    await page.getByRole('link', { name: 'First?' }).click()
    await page.waitForURL(/threads\/a-thread\?.*as_of=/)
  })

  it('are left for pages that know the present only', async () => {
    const page = await pages.open(`/${PROJECT}?as_of=${position}`)
    await page.getByText(/^As of position/).waitFor()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'History' }).click()
    await page.waitForURL(/\/history$/)
    assert.equal(await page.getByText(/^As of position/).count(), 0)
    await page.goto(`${pages.service.address}/${PROJECT}/history?object=old-0`)
    await page.getByRole('button', { name: 'call ended' }).click()
    await page.getByRole('link', { name: 'The traces as of this event' }).click()
    await page.waitForURL(/traces\?as_of=\d+/)
    await page.getByRole('link', { name: 'former' }).waitFor()
  })
})
