import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { demoMonth } from '../../demo/month.js'
import { record } from '../../demo/record.js'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { ADMINISTRATOR_KEY } from '../support/service.js'

const DEAR_MODEL = 'claude-3-5-sonnet-20241022'
const DEAR_USER = 'lucia'
const TABS = 200

/** Presses Tab until an element whose name contains a text has the focus. */
const tabTo = async (page: Page, name: string): Promise<void> => {
  for (let tabs = 0; tabs < TABS; tabs += 1) {
    const focused = await page.evaluate<string>(
      `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '')`,
    )
    if (focused.includes(name) && focused.length < name.length + 40) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`${TABS} times Tab do not reach ${name}`)
}

describeInBrowser('the way of a newcomer', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(4, 12)
    await record(pages.service.address, ADMINISTRATOR_KEY, demoMonth(PROJECT, Date.now(), 120))
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const open = () => pages.open('/', { key: null })
  /** The highest figure of the table of the chart, which counts calls of the dear model. */
  const dearCell = async (page: Page) => {
    const column = page.locator('.chart thead th', { hasText: DEAR_MODEL })
    await column.waitFor()
    const place = await column.evaluate((cell) => (cell as unknown as { cellIndex: number }).cellIndex)
    const cells = page.locator(`.chart tbody tr > :nth-child(${place + 1})`)
    const figures = (await cells.allTextContents()).map((text) => Number(text.replace('$', '')) || 0)
    return cells.nth(figures.indexOf(Math.max(...figures))).getByRole('link')
  }
  const isAtMessage = async (page: Page) => {
    await page.getByRole('heading', { name: 'anthropic.messages.create' }).first().waitFor()
    await page.getByText('Summarise all tickets of customer').first().waitFor()
  }

  it('leads by eight clicks from the sign-in to the message that made a day dear', async () => {
    const page = await open()
    let clicks = 0
    const click = async (target: ReturnType<Page['locator']>) => {
      await target.click()
      clicks += 1
    }
    await page.getByRole('textbox', { name: 'API key' }).fill(ADMINISTRATOR_KEY)
    await click(page.getByRole('button', { name: 'Sign in' }))
    await click(page.getByRole('link', { name: 'acme / support' }))
    await click(page.locator('label', { hasText: 'Cost' }))
    await click(page.getByRole('button', { name: 'Cost by model as a table' }))
    await click(await dearCell(page))
    await page.getByText(`model is ${DEAR_MODEL}`).first().waitFor()
    await click(page.locator('.facets').getByRole('button', { name: DEAR_USER }))
    await click(page.getByRole('link', { name: 'anthropic.messages.create' }).first())
    await isAtMessage(page)
    assert.ok(clicks <= 8, `it takes ${clicks} clicks`)
  })

  it('leads there by keys alone', async () => {
    const page = await open()
    await page.getByRole('textbox', { name: 'API key' }).waitFor()
    await page.keyboard.type(ADMINISTRATOR_KEY)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'acme / support' }).waitFor()
    await tabTo(page, 'acme / support')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await page.locator('.legend', { hasText: 'succeeded' }).waitFor()
    while ((await page.evaluate('document.activeElement.type')) !== 'radio') await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    await page.locator('.legend', { hasText: DEAR_MODEL }).waitFor()
    await tabTo(page, 'Cost by model as a table')
    await page.keyboard.press('Enter')
    const dear = await dearCell(page)
    const address = await dear.getAttribute('href')
    while ((await page.evaluate(`document.activeElement.getAttribute('href')`)) !== address)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText(`model is ${DEAR_MODEL}`).first().waitFor()
    await page.locator('.facets').getByRole('button', { name: DEAR_USER }).waitFor()
    await tabTo(page, DEAR_USER)
    await page.keyboard.press('Enter')
    await page.getByText(`is ${DEAR_USER}`).first().waitFor()
    await page.locator('tbody', { hasText: 'openai' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'anthropic.messages.create' }).first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await isAtMessage(page)
  })
})
