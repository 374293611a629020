import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { accepted } from '../api/calls/given.js'
import { until } from '../support/until.js'
import { failCall, keyOfMember } from './given.js'

const LIST = `/${PROJECT}/traces`

describeInBrowser('the list of traces', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(80, 40)
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const names = (page: Page) => page.locator('tbody tr td:nth-child(3)').allTextContents()
  const durations = (page: Page) => page.locator('tbody tr td:nth-child(6)').allTextContents()
  const filter = (operand: object) => `filter=${encodeURIComponent(JSON.stringify(operand))}`
  const IS_ANSWER = { $eq: [{ $getField: 'op_name' }, { $literal: 'answer_question' }] }
  const IS_CRAWL = { $eq: [{ $getField: 'op_name' }, { $literal: 'index_documentation' }] }

  it('keeps filter, range, sort, columns, selection and scroll position over reload, back and a copied link', async () => {
    const state = `${filter({ $and: [IS_ANSWER] })}&range=30d&cols=status,op,input,output,duration,tokens,attributes.environment`
    const page = await pages.open(`${LIST}?${state}`)
    await page.locator('tbody').getByText('answer_question').first().waitFor()
    await page.getByRole('button', { name: 'Duration' }).click()
    await page.waitForURL(/sort=/)
    await page.locator('.scroll:not(.dimmed)').waitFor()
    await page.locator('tbody a').first().hover()
    await page.mouse.wheel(0, 900)
    await page.waitForTimeout(500)
    const shown = await page.locator('tbody tr td a').nth(20).getAttribute('href')
    await page.locator(`tbody a[href="${shown}"]`).click()
    await page.waitForURL(/traces\/.+/)
    await page.goBack()
    await page.locator(`a[href="${shown}"]`).first().waitFor()
    assert.ok((await page.evaluate<number>(`document.querySelector('.scroll').scrollTop`)) > 600)
    assert.equal(await page.locator('tr[data-selected] a').getAttribute('href'), shown)
    const url = page.url()
    assert.ok(url.includes('range=30d') && url.includes('sort=') && url.includes('filter='))
    const before = await names(page)
    await page.reload()
    await page.locator('tbody').getByText('answer_question').first().waitFor()
    const copied = await pages.open(url)
    await copied.locator('tbody').getByText('answer_question').first().waitFor()
    assert.equal(copied.url(), url)
    for (const one of [page, copied]) {
      assert.equal(await one.locator('.chip').count(), 1)
      assert.equal(await one.getByLabel('Time range').first().inputValue(), 'Last 30 days')
      const heads = await one.locator('th:not(:first-child)').allInnerTexts()
      assert.deepEqual(heads.slice(-2), ['Tokens', 'attributes.environment'])
    }
    const known = before.filter((name) => name !== '')
    assert.ok(known.length > 10)
    await page.locator('tbody a').first().hover()
    await page.mouse.wheel(0, -5000)
    const longest = async (of: Page) => (await durations(of)).slice(0, 10)
    await until(async () => isDeepStrictEqual(await longest(page), await longest(copied)))
  })

  it('shows every condition as a chip, and only what meets them', async () => {
    const page = await pages.open(`${LIST}?${filter({ $and: [IS_CRAWL] })}&range=30d`)
    await page.locator('tbody').getByText('index_documentation').first().waitFor()
    assert.deepEqual([...new Set((await names(page)).filter((name) => name !== ''))], ['index_documentation'])
    await page.locator('.chip').getByText('index_documentation').waitFor()
    assert.equal(await page.locator('.chip').count(), 1)
    assert.equal(await page.getByLabel('Time range').first().inputValue(), 'Last 30 days')
  })

  it('says why it is empty and offers the way back', async () => {
    const page = await pages.open(`${LIST}?q=nothing-has-this-text`)
    await page.getByText('No trace matches').waitFor()
    await page.getByRole('button', { name: 'Clear all' }).click()
    await page.getByText('answer_question').first().waitFor()
  })

  it('adds a filter with completion, by keys', async () => {
    const page = await pages.open(LIST)
    await page.getByText('answer_question').first().waitFor()
    await page.keyboard.press('f')
    await page.getByRole('dialog').waitFor()
    const field = page.getByRole('dialog').getByLabel('Field').first()
    await field.fill('Op')
    const value = page.getByRole('dialog').getByLabel('Value').first()
    await value.fill('index_doc')
    await page.getByRole('option', { name: /index_documentation/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
    await page.locator('.chip').waitFor()
    await page.waitForURL(/filter=/)
  })

  it('offers the models of the project as the first field, and asks for the values of chosen fields only', async () => {
    const page = await pages.open(LIST)
    await page.getByText('answer_question').first().waitFor()
    const asked: string[] = []
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.pathname === '/api/pages/values') asked.push(url.searchParams.get('field')!)
    })
    await page.keyboard.press('f')
    const form = page.getByRole('dialog')
    const field = form.getByLabel('Field').first()
    await field.click()
    await page.getByRole('option').first().waitFor()
    assert.equal(await page.getByRole('option').first().textContent(), 'model')
    await field.pressSequentially('status', { delay: 200 })
    await until(() => asked.length > 0)
    assert.deepEqual(asked, ['summary.weave.status'])
    await field.fill('model')
    await page.getByRole('option', { name: 'model', exact: true }).click()
    await form.getByLabel('Value').first().click()
    const offered = page.getByRole('option', { name: /gpt-/ }).first()
    await offered.waitFor()
    const model = (await offered.textContent())!
    await offered.click()
    await form.getByRole('button', { name: 'Apply' }).click()
    await page.locator('.chip').getByText(`model is ${model}`).waitFor()
    await page.locator('.scroll:not(.dimmed) tbody a').first().waitFor()
    assert.deepEqual(JSON.parse(new URL(page.url()).searchParams.get('filter')!), { $usedModel: model })
  })

  it('collects new traces behind a button while it is live, and does not move', async () => {
    const page = await pages.open(`${LIST}?live=1`)
    await page.getByText('answer_question').first().waitFor()
    await page.waitForTimeout(2500)
    const before = await names(page)
    await failCall(pages.service, PROJECT)
    await page.getByRole('button', { name: /^1 new$/ }).waitFor()
    assert.deepEqual(await names(page), before)
    await page.getByRole('button', { name: /^1 new$/ }).click()
    await page.getByText('publish').first().waitFor()
  })

  it('has next and previous traces in its own order, and none without a list', async () => {
    const page = await pages.open(`${LIST}?sort=-usage.total_cost`)
    await page.getByText('answer_question').first().waitFor()
    const links = await page.locator('tbody tr').evaluateAll(
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- elements of the page: the tests have no types of the DOM
      (rows: any[]) => rows.map((row) => row.querySelector('td a')?.getAttribute('href')).filter(Boolean),
    )
    await page.locator('tbody tr td a').first().click()
    await page.getByText(/^1 of /).waitFor()
    await page.keyboard.press('j')
    await page.getByText(/^2 of /).waitFor()
    assert.equal(new URL(page.url()).pathname, (links as string[])[1])
    await page.keyboard.press('k')
    await page.getByText(/^1 of /).waitFor()
    const alone = await pages.open((links as string[])[1]!)
    await alone.getByText('Not opened from a list').waitFor()
  })

  it('shows forty columns', async () => {
    const columns = Array.from({ length: 40 }, (_, n) => `attributes.field${n}`).join(',')
    const page = await pages.open(`${LIST}?cols=${columns}`)
    await page.getByText('answer_question').first().waitFor()
    assert.equal(await page.locator('th').count(), 42)
    const row = page.locator('tbody tr').first().locator('td')
    await until(async () => (await row.count()) < 20)
    assert.ok(Number(await row.last().getAttribute('colspan')) > 25)
    await page.evaluate(`document.querySelector('.scroll').scrollLeft = 1e6`)
    await until(async () => (await row.last().textContent()) === '—')
    assert.ok((await row.count()) < 20)
  })

  it('takes a range in the chosen zone, names the zone, and moves the range by keys', async () => {
    const page = await pages.open(LIST, { timezoneId: 'Asia/Tokyo' })
    await page.getByText('answer_question').first().waitFor()
    await page.getByRole('search').getByText('Asia/Tokyo').waitFor()
    await page.getByLabel('Time range').first().click()
    await page.getByRole('option', { name: 'From … to …' }).click()
    await page.getByLabel('From (Asia/Tokyo)').fill('2020-03-01T09:00:00')
    await page.getByLabel('To (Asia/Tokyo)').fill('2020-03-02T09:00:00')
    await page.getByRole('button', { name: 'Apply' }).click()
    const range = (from: string, to: string) =>
      page.waitForURL(
        ({ searchParams }) => searchParams.get('range') === `${from}T00:00:00.000Z..${to}T00:00:00.000Z`,
      )
    await range('2020-03-01', '2020-03-02')
    await page.getByText('No trace matches').waitFor()
    assert.match(
      await page.getByLabel('Time range').first().inputValue(),
      /Mar 1 2020 09:00:00 – Mar 2 2020 09:00:00/,
    )
    await page.keyboard.press('[')
    await range('2020-02-29', '2020-03-01')
    await page.keyboard.press(']')
    await range('2020-03-01', '2020-03-02')
  })

  it('says after a second that it still searches, and can be stopped and begun again', async () => {
    const page = await pages.open('about:blank')
    let isSlow = true
    await page.route('**/api/pages/calls', async (route) => {
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 20_000).unref())
      await route.continue().catch(() => undefined)
    })
    await page.goto(`${pages.service.address}${LIST}`)
    await page.getByText('Still searching …').waitFor()
    isSlow = false
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The search was stopped.').waitFor()
    await page.getByRole('button', { name: 'Search again' }).click()
    await page.getByText('answer_question').first().waitFor()
  })

  it('shows the same time zone everywhere, as chosen', async () => {
    const page = await pages.open('/acme/support/traces', { timezoneId: 'America/New_York' })
    await page.getByText('answer_question').first().waitFor()
    const title = () => page.locator('tbody time').first().getAttribute('title')
    assert.match((await title()) ?? '', /America\/New_York/)
    await page.getByRole('button', { name: 'admin' }).click()
    await page.getByRole('menuitem', { name: /Time zone/ }).click()
    await page.getByRole('combobox', { name: 'All times, filters and charts use' }).fill('Asia/Tokyo')
    await page.getByRole('option', { name: 'Asia/Tokyo' }).click()
    assert.match((await title()) ?? '', /Asia\/Tokyo/)
    await page.reload()
    await page.locator('tbody time').first().waitFor()
    assert.match((await title()) ?? '', /Asia\/Tokyo/)
  })

  it('keeps a view for the team, with its columns', async () => {
    const page = await pages.open(`${LIST}?cols=attributes.environment&range=7d`)
    await page.getByText('production').first().waitFor()
    await page.getByRole('button', { name: /^Views?/ }).click()
    // What is below it moves when the list of views arrives.
    await page.getByText('No view is saved yet.').waitFor()
    await page.getByRole('textbox', { name: 'Name of the view' }).fill('by environment')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('menuitem', { name: 'by environment' }).waitFor()
    const member = await keyOfMember(pages.service, 'mira')
    const other = await pages.open(LIST, { key: member })
    await other.getByText('answer_question').first().waitFor()
    await other.getByRole('button', { name: /^Views?/ }).click()
    await other.getByRole('menuitem', { name: 'by environment' }).click()
    await other.getByText('production').first().waitFor()
    await other.waitForURL(/cols=op%2Cattributes\.environment/)
  })

  it("keeps the user's columns, their order and widths, until they are reset", async () => {
    const heads = (page: Page) => page.locator('th:not(:first-child)').allInnerTexts()
    const widthOfCost = async (page: Page) =>
      (await page.locator('th', { hasText: 'Cost' }).boundingBox())?.width ?? 0
    const page = await pages.open(LIST)
    await page.getByText('answer_question').first().waitFor()
    const before = await heads(page)
    const width = await widthOfCost(page)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Tokens', exact: true }).click()
    await page.getByRole('button', { name: 'Move End user left' }).click()
    await page.getByRole('textbox', { name: 'Find a field' }).fill('environment')
    await page.getByRole('checkbox', { name: 'attributes.environment' }).click()
    await page.keyboard.press('Escape')
    await page.locator('tbody').getByText('production').first().waitFor()
    await page.getByRole('separator', { name: 'Width of Cost' }).focus()
    for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowRight')
    const chosen = ['Status', 'Op', 'Input', 'Output', 'Duration', 'End user', 'Cost', 'Started ↓']
    assert.deepEqual(await heads(page), [...chosen, 'attributes.environment'])
    assert.equal(await widthOfCost(page), width + 48)
    await page.goto(LIST)
    await page.locator('tbody').getByText('production').first().waitFor()
    assert.match(page.url(), /cols=/)
    assert.deepEqual(await heads(page), [...chosen, 'attributes.environment'])
    assert.equal(await widthOfCost(page), width + 48)
    // an address is stronger than what the browser keeps
    await page.goto(`${LIST}?cols=op,started`)
    await page.getByText('answer_question').first().waitFor()
    assert.deepEqual(await heads(page), ['Op', 'Started ↓'])
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('button', { name: 'Reset columns and widths' }).click()
    await page.locator('th', { hasText: 'Tokens' }).waitFor()
    assert.deepEqual(await heads(page), before)
    assert.equal(await widthOfCost(page), width)
  })

  it('counts calls and feedback in columns that are chosen', async () => {
    const page = await pages.open(LIST)
    await page.getByText('answer_question').first().waitFor()
    const asked: unknown[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/api/pages/calls'))
        asked.push((request.postDataJSON() as { figures: unknown }).figures)
    })
    await page.getByRole('button', { name: 'Columns' }).click()
    for (const name of ['Calls', 'Errors', 'Feedback'])
      await page.getByLabel('Other columns').getByLabel(name, { exact: true }).click()
    await page.keyboard.press('Escape')
    const row = page.locator('tbody tr', { hasText: 'answer_question' }).first()
    await until(async () => Number(await row.locator('td').nth(10).textContent()) > 1)
    assert.deepEqual(asked.at(-1), ['calls', 'errors', 'feedback'])
  })

  it('finds a project by name where a team has more than are listed at once', async () => {
    const page = await pages.open(LIST)
    await page.route(/\/projects$/, (route) => route.fulfill({ json: { data: [], has_more: true } }))
    await page.getByRole('button', { name: 'acme / support' }).click()
    await page.getByText('No project has this name.').waitFor()
    await page.getByLabel('Find a project').fill('acme/SUPP')
    await page.getByRole('menuitem', { name: 'acme / support' }).waitFor()
  })

  it('asks again after it was hidden for half an hour, and keeps its place', async () => {
    const page = await pages.open('about:blank')
    await page.clock.install()
    await page.goto(LIST)
    await page.getByText('answer_question').first().waitFor()
    const asked = (timeout: number) =>
      page.waitForResponse((response) => response.url().endsWith('/api/pages/calls'), { timeout })
    const look = () =>
      page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
    await page.clock.fastForward('10:00')
    await Promise.all([assert.rejects(asked(1000)), look()])
    await page.clock.fastForward('31:00')
    await Promise.all([asked(15_000), look()])
    await page.getByText('answer_question').first().waitFor()
  })

  it('shows the first project of a new user when its first call arrives', async () => {
    accepted(await pages.service.post('/api/teams', { name: 'fresh' }))
    const { api_key: key } = accepted(
      await pages.service.post('/api/teams/fresh/members', { user: 'newcomer', role: 'member' }),
    ) as { api_key: string }
    const page = await pages.open('/', { key })
    await page.getByText('A project is made by the first call').waitFor()
    accepted(await pages.service.in('fresh/first').calls.start({ op_name: 'hello' }))
    await page.getByRole('link', { name: 'fresh / first' }).waitFor()
  })

  it('shows the projects of a team that the user has just joined', async () => {
    accepted(await pages.service.post('/api/teams', { name: 'empty' }))
    const joins = (team: string) =>
      pages.service.post(`/api/teams/${team}/members`, { user: 'joiner', role: 'member' })
    const { api_key: key } = accepted(await joins('empty')) as { api_key: string }
    const page = await pages.open('/', { key })
    await page.getByText('A project is made by the first call').waitFor()
    accepted(await joins('acme'))
    await page.getByRole('link', { name: 'acme / support' }).waitFor()
  })

  it('turns from snippets into the list when the first call arrives', async () => {
    const page = await pages.open('/acme/begun/traces')
    await page.getByText('No calls in acme/begun yet').waitFor()
    await page.getByText(pages.service.address).first().waitFor()
    const { calls } = pages.service.in('acme/begun')
    accepted(await calls.start({ op_name: 'first_of_all' }))
    await page.getByText('first_of_all').first().waitFor()
  })
})
