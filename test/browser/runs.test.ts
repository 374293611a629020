import assert from 'node:assert/strict'
import {
  accessibilityProblems,
  describeInBrowser,
  PROJECT,
  startPages,
  type Pages,
} from '../support/browser.js'
import { logRun } from './given.js'

const EVIL = '<img src=x onerror="window.wasRun=1">'

const rowsOf = (lossAt: (step: number) => number) =>
  Array.from({ length: 200 }, (_, step) => ({
    loss: lossAt(step),
    'val/loss': 2 * lossAt(step),
    [EVIL]: step,
    _step: step,
    _timestamp: 1.79e9 + step,
  }))

describeInBrowser('the pages of runs', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(1, 8)
    const log = (id: string, lossAt: (step: number) => number, options: object = {}) =>
      logRun(pages.service, PROJECT, id, { name: `${id} ${EVIL}`, rows: rowsOf(lossAt), ...options })
    await log('steady', (step) => 1 / (step + 1))
    await log('diverged', (step) => (step < 120 ? 1 / (step + 1) : step))
    await log('going-on', (step) => step, { isOver: false })
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  it('compare the metrics of the chosen runs', async () => {
    const page = await pages.open(`/${PROJECT}/runs`)
    const chart = (label: string, lines: number) =>
      page.getByRole('img', { name: new RegExp(`^${label}: ${lines} series, 200 points`) }).waitFor()
    await chart('loss', 3)
    await page.getByRole('checkbox', { name: 'Charts of going-on' }).click()
    await chart('loss', 2)
    await page.getByRole('region', { name: 'val' }).waitFor()
    await chart('val/loss', 2)
    assert.equal(new URL(page.url()).searchParams.get('runs'), 'diverged,steady')
    await page.getByRole('button', { name: 'loss as a table', exact: true }).click()
    const row = page
      .getByRole('row')
      .filter({ has: page.getByRole('rowheader', { name: '120', exact: true }) })
    assert.deepEqual(await row.getByRole('cell').allTextContents(), ['120', '0.0082645'])

    await page.getByText('0.9', { exact: true }).click()
    await page.waitForURL(/smooth=0\.9/)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'config.lr' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'config.lr' }).waitFor()
    await page.getByRole('cell', { name: '0.1', exact: true }).first().waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.reload()
    await page.getByRole('columnheader', { name: 'config.lr' }).waitFor()
    await chart('loss', 2)
    assert.equal(await page.evaluate('window.wasRun'), undefined)
  })

  it('show what one run has', async () => {
    const page = await pages.open(`/${PROJECT}/runs`)
    await page.getByRole('link', { name: /^steady/ }).click()
    await page.getByRole('img', { name: /^loss: 1 series, 200 points/ }).waitFor()
    await page.getByText('finished').first().waitFor()
    await page.getByText('epoch 1 done').waitFor()
    await page.getByRole('region', { name: 'Configuration' }).getByText('layers').waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    assert.equal(await page.evaluate('window.wasRun'), undefined)
  })
})
