import assert from 'node:assert/strict'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { accepted } from '../api/calls/given.js'
import { failCall } from './given.js'

const HOUR_MS = 3_600_000
const OVERVIEW = `/${PROJECT}`

describeInBrowser('the overview of a project', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages()
    for (let n = 0; n < 3; n += 1) await failCall(pages.service, PROJECT)
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const rangeAround = () => {
    const [from, to] = [-72 * HOUR_MS, HOUR_MS].map((ms) => new Date(Date.now() + ms).toISOString())
    return { start: from!, end: to!, range: `${from}..${to}` }
  }

  it('shows the figures of the API, each with a link to the calls behind it', async () => {
    const { start, end, range } = rangeAround()
    const shown = accepted(
      await pages.service.post('/api/pages/overview', { project_id: PROJECT, start, end }),
    ) as unknown as { figures: { traces: number; errors: number } }
    const page = await pages.open(`${OVERVIEW}?range=${range}`)
    const figure = (label: string) => page.locator('.figures > div', { hasText: label })
    await figure('Traces')
      .getByRole('link', { name: String(shown.figures.traces), exact: true })
      .waitFor()
    await figure('Errors').getByRole('link').click()
    await page.getByText('status is error').waitFor()
    await page.getByText(`${shown.figures.errors} traces`).waitFor()
  })

  it('asks for the whole page with at most three requests', async () => {
    const page = await pages.open('about:blank')
    const asked: string[] = []
    page.on('request', (request) => {
      if (/\/(api\/pages|usage|calls)\//.test(request.url())) asked.push(new URL(request.url()).pathname)
    })
    await page.goto(OVERVIEW)
    await page.getByText('ValueError: no such version').waitFor()
    assert.deepEqual(asked.sort(), ['/api/pages/errors', '/api/pages/overview'])
  })

  it('leads from a cell of the chart to exactly the traces that it counts, and to its range', async () => {
    const { range } = rangeAround()
    const page = await pages.open(`${OVERVIEW}?range=${range}`)
    await page.getByRole('button', { name: 'Traces by status as a table' }).click()
    const counted = page.locator('td a', { hasText: /^[1-9]/ })
    const row = page.locator('.chart tr', { has: counted }).first()
    const cell = row.locator(counted).first()
    const count = Number(await cell.textContent())
    await cell.click()
    await page
      .getByText(count === 1 ? '1 trace' : `${count} traces`)
      .first()
      .waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Traces by status as a table' }).click()
    await row.getByRole('button').first().click()
    await page.waitForURL((url) => url.searchParams.get('range') !== range)
    await page.locator('.figures a').first().waitFor()
  })

  it('draws cost by model and durations', async () => {
    const page = await pages.open(`${OVERVIEW}?chart=cost`)
    await page.locator('.legend', { hasText: 'gpt-4o' }).waitFor()
    await page.getByText('Duration', { exact: true }).click()
    await page.locator('.legend', { hasText: 'p95' }).waitFor()
    await page.waitForURL(/chart=latency/)
  })

  it('groups the newest failures and opens the newest call', async () => {
    const page = await pages.open(OVERVIEW)
    const row = page.getByRole('table', { name: 'Newest failures' }).locator('tr', { hasText: 'ValueError' })
    await row.getByText(/×\u20093/).waitFor()
    await row.getByRole('link').last().click()
    await page.waitForURL(/\/traces\/.+call=/)
    await page.getByText('ValueError: no such version').first().waitFor()
  })

  it('turns from snippets into the page when the first call arrives', async () => {
    const page = await pages.open('/acme/opened')
    await page.getByText('No calls in acme/opened yet').waitFor()
    const { calls } = pages.service.in('acme/opened')
    accepted(await calls.start({ op_name: 'first_of_all', started_at: new Date().toISOString() }))
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.getByText('first_of_all').first().waitFor()
  })
})
