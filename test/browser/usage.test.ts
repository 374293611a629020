import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { accepted } from '../api/calls/given.js'

const HOUR_MS = 3_600_000
const USAGE = `/${PROJECT}/usage`

describeInBrowser('the usage explorer', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages()
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const rangeAround = () => {
    const [start, end] = [-96 * HOUR_MS, HOUR_MS].map((ms) => new Date(Date.now() + ms).toISOString())
    return { start: start!, end: end!, range: `${start}..${end}` }
  }

  it('leads from a group to exactly the calls that it counts, own and with descendants', async () => {
    const { start, end, range } = rangeAround()
    for (const usage of ['own', 'inclusive'] as const) {
      const { rows } = accepted(
        await pages.service.post('/usage/query', {
          ...{ project_id: PROJECT, start, end, usage, group_by: ['model', 'op'], include_costs: true },
          ...(usage === 'own' ? {} : { filter: { trace_roots_only: true } }),
        }),
      ) as unknown as { rows: { group: Record<string, string>; usage: { calls: number } }[] }
      const { group, usage: counted } = rows.find(({ usage }) => usage.calls > 1 && usage.calls < 50)!
      const page = await pages.open(`${USAGE}?by=model,op&usage=${usage}&range=${range}`)
      const name = `${group['model']} · ${group['op']}`
      await page.getByRole('table', { name: 'Usage' }).getByRole('link', { name, exact: true }).click()
      await page
        .getByText(`${counted.calls} ${usage === 'own' ? 'calls' : 'traces'}`)
        .first()
        .waitFor()
    }
  })

  it('leads from a bar to exactly the calls that it counts', async () => {
    const { range } = rangeAround()
    const page = await pages.open(`${USAGE}?by=op&metric=calls&per=day&range=${range}`)
    await page.getByRole('button', { name: 'Calls by op, day as a table' }).click()
    const cell = page.locator('.chart td a', { hasText: /^[2-9]$|^[1-4]\d$/ }).first()
    const count = await cell.textContent()
    await cell.click()
    await page.getByText(`${count} calls`).first().waitFor()
  })

  it('keeps what is chosen in the address, and names models without a price', async () => {
    const page = await pages.open(USAGE)
    await page.getByText('without a price, and not in the cost: our-own-model').waitFor()
    await page.getByRole('combobox', { name: 'Then by' }).click()
    await page.getByRole('option', { name: 'op', exact: true }).click()
    await page.getByRole('combobox', { name: 'Metric' }).click()
    await page.getByRole('option', { name: 'Tokens', exact: true }).click()
    await page.waitForURL((url) => url.searchParams.get('by') === 'model,op')
    await page.waitForURL((url) => url.searchParams.get('metric') === 'total_tokens')
    await page.reload()
    await page.getByText('Tokens by model, op, day').waitFor()
  })

  it('groups by three dimensions without time', async () => {
    const page = await pages.open(`${USAGE}?by=model,op`)
    await page.getByText('Cost by model, op, day').waitFor()
    await page.getByRole('combobox', { name: 'And by' }).click()
    await page.getByRole('option', { name: 'user', exact: true }).click()
    await page.waitForURL((url) => url.searchParams.get('by') === 'model,op,user')
    await page.getByRole('columnheader', { name: 'model, op, user' }).waitFor()
    assert.equal(await page.locator('.chart').count(), 0)
    await page.getByRole('combobox', { name: 'Time', exact: true }).click()
    await page.getByRole('option', { name: 'week', exact: true }).click()
    await page.getByText('Cost by model, op, week').waitFor()
  })

  it('has room for both lines of the time axis', async () => {
    const page = await pages.open(`${USAGE}?range=24h`)
    const axis = page.locator('.u-axis').first()
    await axis.waitFor({ state: 'attached' })
    assert.ok((await axis.boundingBox())!.height >= 40)
  })

  it('saves what it shows as CSV and Parquet', async () => {
    const page = await pages.open(USAGE)
    await page.getByText('gpt-4o-mini').first().waitFor()
    for (const [format, begins] of [
      ['CSV', 'model,groups'],
      ['Parquet', 'PAR1'],
    ] as const) {
      const saved = page.waitForEvent('download')
      await page.getByRole('button', { name: format }).click()
      const text = await readFile(await (await saved).path())
      assert.equal(text.subarray(0, begins.length).toString(), begins)
    }
  })

  it('begins an automation with what it shows', async () => {
    const page = await pages.open(`${USAGE}?metric=total_tokens`)
    await page.getByRole('link', { name: 'New automation' }).click()
    await page.getByRole('heading', { name: 'Create automation' }).waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Project' }).inputValue(), 'support')
    assert.match(await page.getByRole('combobox', { name: 'Event' }).inputValue(), /uses much/)
  })

  it('keeps a view, apart from those of lists', async () => {
    const page = await pages.open(`${USAGE}?by=op&metric=total_tokens&usage=inclusive&per=week`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('textbox', { name: 'Name of the view' }).fill('Расход')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Расход' }).waitFor()
    await page.goto(USAGE)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Расход' }).click()
    await page.getByText('Tokens by op, week').waitFor()
    await page.waitForURL((url) => url.searchParams.get('usage') === 'inclusive')
    await page.goto(`/${PROJECT}/traces`)
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByText('No view is saved yet.').waitFor()
  })

  it('says what usage is where there is none', async () => {
    const page = await pages.open('/acme/without-usage/usage')
    await page.getByText('No call with usage started in this range').waitFor()
  })

  it('draws the budget of the team', async () => {
    accepted(
      await pages.service.send('PUT', '/api/teams/acme/limits', {
        scope: { type: 'team' },
        budget: { amount: 0.01, period: 'day' },
      }),
    )
    const page = await pages.open(`${USAGE}?per=day`)
    await page.getByText('Budget of the team for a day').waitFor()
  })

  it('shows the spend of a team by project', async () => {
    const page = await pages.open('/acme/-/gateway/spend')
    await page.getByRole('link', { name: 'support · gpt-4o-mini' }).click()
    await page.waitForURL(new RegExp(`${PROJECT}/traces`))
  })
})
