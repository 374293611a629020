import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { until } from '../support/until.js'
import { accepted } from '../api/calls/given.js'

const LIST = `/${PROJECT}/traces`

describeInBrowser('work with the list of traces', () => {
  let pages: Pages
  let total: number
  before(async () => {
    pages = await startPages(80, 40)
    const filter = { trace_roots_only: true }
    const count = accepted(await pages.service.in(PROJECT).calls.count({ filter })) as { count: number }
    total = count.count
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const opened = async (query = '') => {
    const page = await pages.open(LIST + query)
    await page.locator('tbody a').first().waitFor()
    return page
  }
  const boxes = (page: Page) => page.locator('tbody').getByRole('checkbox')
  const facets = (page: Page) => page.getByRole('complementary', { name: 'Values in the list' })

  it('says how many traces of how many are shown, with the tokens and the cost of all', async () => {
    const page = await opened()
    await page
      .locator('.totals')
      .getByText(new RegExp(`^50 of ${total} traces · .+ tokens · .*\\$`))
      .waitFor()
    await page.getByText('All calls', { exact: true }).click()
    await page
      .locator('.totals')
      .getByText(/^50 of [\d\u2009]+ calls/)
      .waitFor()
    assert.match(page.url(), /roots=0/)
  })

  it('shows dates whole and the last column without scrolling at 1,440 px', async () => {
    const page = await opened('?range=30d')
    await facets(page).getByRole('button').first().waitFor()
    const cut = await page.locator('tbody time').evaluateAll(
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- elements of the page: the tests have no types of the DOM
      (times: any[]) =>
        times.filter((time) => time.parentElement.scrollWidth > time.parentElement.clientWidth).length,
    )
    assert.equal(cut, 0)
    const overflow = await page.evaluate<number>(
      `document.querySelector('.list-rows .scroll').scrollWidth - document.querySelector('.list-rows .scroll').clientWidth`,
    )
    assert.equal(overflow, 0)
  })

  it('erases the content of selected calls, after a preview and with a receipt', async () => {
    const calls = pages.service.in(PROJECT).calls
    const started_at = new Date().toISOString()
    await calls.start({ id: 'to-erase', started_at, inputs: { secret: 'blue heron' } }).json()
    await calls.end('to-erase', { ended_at: started_at, output: 'blue heron' }).json()
    const page = await opened('?q=heron')
    await boxes(page).first().check()
    await page.getByRole('button', { name: 'Erase content' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(/Inputs, outputs, attributes and exceptions of 1 call, with all below/).waitFor()
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('asked for by a customer')
    await dialog.getByRole('button', { name: 'Erase for ever' }).click()
    await dialog.getByText('1 of 1 call, 2 events').waitFor({ timeout: 100_000 })
    await dialog.getByText('Erased', { exact: true }).waitFor({ timeout: 100_000 })
    const { inputs, output } = await calls.read('to-erase')
    assert.deepEqual([inputs, output], [{}, null])

    await page.goto(`/${PROJECT}/traces/to-erase`)
    await page.getByText('The content of this call was erased.').waitFor()
    await page.goto('/acme/-/settings/projects')
    await page.getByRole('button', { name: 'Settings of support' }).click()
    await page
      .getByRole('region', { name: 'Erasures' })
      .getByText(/asked for by a customer/)
      .waitFor()
  })

  it('names the end user of each trace, and filters by one with a click', async () => {
    await pages.service
      .in(PROJECT)
      .calls.complete([
        {
          ...{ id: 'of-an-end-user', trace_id: 'of-an-end-user', op_name: 'answer_question' },
          ...{ attributes: { user: 'customer-4711' }, started_at: new Date().toISOString() },
          ended_at: new Date().toISOString(),
        },
      ])
      .json()
    const page = await opened()
    await page.locator('tbody').getByText('customer-4711').waitFor()
    await facets(page)
      .getByRole('button', { name: /^customer-4711 1$/ })
      .click()
    await page.locator('.chip').getByText('end user is customer-4711').waitFor()
    await page
      .locator('.totals')
      .getByText(/^1 of 1 trace/)
      .waitFor()
    await facets(page)
      .getByRole('button', { name: /^customer-4711 1$/, pressed: true })
      .click()
    await page
      .locator('.totals')
      .getByText(/^50 of/)
      .waitFor()
  })

  it('counts each value of the list as the filter on it does', async () => {
    const page = await opened()
    const failed = facets(page).getByRole('button', { name: /^failed \d+$/ })
    await failed.waitFor()
    const count = /\d+/.exec((await failed.textContent())!)![0]
    await failed.click()
    await page
      .locator('.totals')
      .getByText(new RegExp(`of ${count} traces?`))
      .waitFor()
  })

  it('zooms into the time that is dragged over the bars', async () => {
    const page = await opened('?range=30d')
    await page.locator('.histogram rect').first().waitFor()
    const box = (await page.locator('.histogram-bars').boundingBox())!
    await page.mouse.move(box.x + box.width * 0.5, box.y + 30)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.9, box.y + 30, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/range=2\d{3}-/)
    const range = new URL(page.url()).searchParams.get('range')!
    const [from, to] = range.split('..').map((text) => Date.parse(text))
    const days = (to! - from!) / 86_400_000
    assert.ok(days > 10 && days < 14, range)
    await page.goBack()
    await page.waitForURL(/range=30d/)
    await page.locator('.histogram-bars').focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForURL(/range=2\d{3}-/)
  })

  it('selects rows by keys, by Shift and all at once, and acts on them', async () => {
    const page = await opened('?sort=-usage.total_cost')
    for (const key of ['j', 'x', 'j', 'j', 'X']) await page.keyboard.press(key)
    await page.getByText('3 selected').waitFor()
    assert.deepEqual(await Promise.all([0, 1, 2, 3].map((n) => boxes(page).nth(n).isChecked())), [
      true,
      true,
      true,
      false,
    ])
    await boxes(page).nth(2).click()
    await page.getByText('2 selected').waitFor()
    const ids = await page.locator('tbody a').evaluateAll(
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- elements of the page: the tests have no types of the DOM
      (links: any[]) =>
        links.slice(0, 2).map((link) => decodeURIComponent(link.getAttribute('href').split('/').at(-1))),
    )
    await page.getByRole('button', { name: 'Copy ids' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.ok(await page.getByRole('button', { name: 'Compare' }).isEnabled())
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .getByRole('button', { name: 'Export 2 rows' })
        .click()
        .then(() => page.getByRole('menuitem', { name: 'JSON lines' }).click()),
    ])
    assert.equal(download.suggestedFilename(), `calls-${PROJECT.split('/')[1]}.jsonl`)
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { trace_id: string }).trace_id).sort(),
      [...ids].sort(),
    )
    await page.getByRole('checkbox', { name: 'Select all rows shown' }).click()
    await page.getByText(/^50 selected/).waitFor()
    assert.ok(await page.getByRole('button', { name: 'Compare' }).isDisabled())
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await page.getByRole('button', { name: 'Export the list' }).waitFor()
  })

  it('deletes the selected traces after asking', async () => {
    const page = await opened()
    const before = await page.locator('tbody a').first().getAttribute('href')
    await boxes(page).first().click()
    await page.getByRole('button', { name: 'Delete 1 trace' }).click()
    await page.getByRole('dialog').getByText('This cannot be undone').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await until(async () => (await page.locator('tbody a').first().getAttribute('href')) !== before)
    assert.equal(await page.locator(`tbody a[href="${before}"]`).count(), 0)
  })

  it('keeps views of similar names apart, asks before one is replaced, renames and deletes', async () => {
    const page = await opened()
    await page.getByRole('button', { name: /^Views?/ }).click()
    await page.getByText('No view is saved yet.').waitFor()
    const name = page.getByRole('textbox', { name: 'Name of the view' })
    const save = page.getByRole('button', { name: 'Save', exact: true })
    for (const label of ['p95 > 1s', 'p95 < 1s', 'Ошибки', 'Медленные']) {
      await name.fill(label)
      await save.click()
      await page.getByRole('menuitem', { name: label, exact: true }).waitFor()
    }
    assert.equal(await page.getByRole('menuitem').count(), 4)
    await name.fill('Ошибки')
    await save.click()
    await page.getByText('“Ошибки” exists.').waitFor()
    await page.getByRole('button', { name: 'Replace it' }).click()
    await page.getByText('“Ошибки” exists.').waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('menuitem').count(), 4)
    await page.getByRole('button', { name: 'Rename Ошибки' }).click()
    await page.getByRole('textbox', { name: 'New name of Ошибки' }).fill('Failures')
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Failures' }).waitFor()
    await page.getByRole('button', { name: 'Delete Failures' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Failures' }).waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('menuitem').count(), 3)
  })
})
