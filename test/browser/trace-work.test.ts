import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { recordTrace, timeOf, type GivenCall } from './given.js'

const PROJECT = 'acme/work'

describeInBrowser('work with a trace', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(1, 8)
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const record = (trace: string, calls: readonly GivenCall[]): Promise<void> =>
    recordTrace(pages.service, PROJECT, trace, calls)
  const open = async (trace: string): Promise<Page> => {
    const page = await pages.open(`/${PROJECT}/traces/${trace}`)
    await page.getByRole('treeitem').first().waitFor()
    return page
  }
  const widthOf = async (page: Page, selector: string) =>
    (await page.locator(selector).first().boundingBox())?.width ?? 0

  it('gives half of the tree to the bars, with ticks, colours by kind, and a divider that moves', async () => {
    await record('bars', [
      { start: { op_name: 'agent' } },
      { start: { op_name: 'chat' }, end: { summary: { usage: { 'gpt-4o': { prompt_tokens: 3 } } } } },
      { start: { op_name: 'search_documents' } },
      { start: { op_name: 'fail' }, end: { exception: 'Error' } },
    ])
    const page = await open('bars')
    assert.ok((await widthOf(page, '.tree-row .lane')) >= 0.49 * (await widthOf(page, '.tree')))
    assert.equal(await page.locator('.lane-ticks > span').count(), 4)
    for (const kind of ['model', 'tool', 'step'])
      assert.ok((await page.locator(`.lane > [data-kind=${kind}]`).count()) >= 1, kind)
    const before = await widthOf(page, '.tree')
    const divider = page.getByRole('separator', { name: 'Width of the tree' })
    await divider.focus()
    for (let press = 0; press < 3; press += 1) await page.keyboard.press('ArrowRight')
    assert.ok((await widthOf(page, '.tree')) > before + 100)
    await page.getByRole('button', { name: 'Figures' }).click()
    assert.ok((await widthOf(page, '.tree-row .lane')) > 0.6 * (await widthOf(page, '.tree')))
    await page.reload()
    await page.getByRole('treeitem').first().waitFor()
    assert.ok((await widthOf(page, '.tree')) > before + 100)
  })

  it('moves the line between names and bars by keys and with the mouse, and keeps it', async () => {
    await record('lanes', [{ start: { op_name: 'agent' } }, { start: { op_name: 'child' } }])
    const page = await open('lanes')
    const divider = page.getByRole('separator', { name: 'Width of the names' })
    const lane = () => widthOf(page, '.tree-row .lane')
    const before = await lane()
    await divider.focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    const narrow = await lane()
    assert.ok(narrow < before - 50)
    const head = await page.locator('.lane-ticks').boundingBox()
    const box = (await divider.boundingBox())!
    assert.ok(Math.abs(box.x + box.width - head!.x) < 2)
    await page.reload()
    await page.getByRole('treeitem').first().waitFor()
    assert.equal(await lane(), narrow)
    await page.mouse.move(box.x + 4, box.y + 100)
    await page.mouse.down()
    await page.mouse.move(box.x + 60, box.y + 100, { steps: 3 })
    await page.mouse.up()
    assert.ok((await lane()) < narrow - 40)
    await divider.dblclick()
    assert.equal(await lane(), before)
  })

  it('marks the critical path', async () => {
    const times = (from: number, to: number, op_name: string, more: object = {}): GivenCall => ({
      start: { op_name, started_at: timeOf(from), ...more },
      end: { ended_at: timeOf(to) },
    })
    await record('path', [
      times(0, 10, 'agent'),
      times(1, 3, 'short'),
      times(1, 6, 'slow'),
      times(7, 9, 'last'),
    ])
    const page = await open('path')
    const row = (name: string) => page.getByRole('treeitem', { name })
    assert.equal(await page.locator('.lane > span').count(), 0)
    await page.keyboard.press('w')
    await row('agent').getByText('3.00 s on the critical path').waitFor()
    await row('slow').getByText('5.00 s on the critical path').waitFor()
    await row('last').getByText('2.00 s on the critical path').waitFor()
    assert.equal(await row('short').getByText('critical path').count(), 0)
    assert.equal(await page.locator('.lane > span').count(), 5)
    await page.reload()
    await row('slow').getByText('on the critical path').waitFor()
    await page.getByRole('button', { name: 'Critical path', pressed: true }).click()
    await row('slow').getByText('on the critical path').waitFor({ state: 'detached' })
  })

  it('zooms into the time that is dragged over all calls', async () => {
    const calls = Array.from({ length: 10 }, (_, n) => ({
      start: { op_name: `step_${n}`, started_at: timeOf(n) },
    }))
    await record('times', calls)
    const page = await open('times')
    const ticks = () => page.locator('.lane-ticks').textContent()
    const whole = await ticks()
    const box = (await page.locator('.minimap').boundingBox())!
    await page.mouse.move(box.x + box.width * 0.5, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + 10, { steps: 4 })
    await page.mouse.up()
    await page.getByRole('button', { name: 'All of the time' }).waitFor()
    assert.notEqual(await ticks(), whole)
    await page.getByRole('button', { name: 'All of the time' }).click()
    assert.equal(await ticks(), whole)
  })

  it('finds a call by name among hundreds, and moves through the matches by keys', async () => {
    const calls = Array.from({ length: 900 }, (_, n) => ({
      start: { op_name: n % 300 === 299 ? 'http.request' : `step_${n}` },
    }))
    await record('many', calls)
    const page = await open('many')
    const box = page.getByRole('searchbox', { name: 'Find a call by name' })
    await box.fill('HTTP')
    await page.getByText('3 matches').waitFor()
    await box.press('ArrowDown')
    await page.getByText('1 of 3').waitFor()
    await page.waitForURL(/call=many-299/)
    await page.getByRole('treeitem', { selected: true }).getByText('http.request').waitFor()
    await box.press('ArrowDown')
    await page.waitForURL(/call=many-599/)
    await box.press('ArrowUp')
    await page.waitForURL(/call=many-299/)
    await box.press('ArrowUp')
    await page.getByText('3 of 3').waitFor()
  })

  it('opens a large trace to its second level, folds an op within its parent, and narrows to failures or models', async () => {
    const calls: GivenCall[] = [{ start: { op_name: 'crawl' } }]
    const id = (n: number) => `levels-${n}`
    for (let n = 1; n <= 30; n += 1) calls.push({ start: { op_name: 'batch', parent_id: id(0) } })
    for (let n = 31; n <= 600; n += 1)
      calls.push({
        start: { op_name: n % 10 === 0 ? 'parse' : 'fetch', parent_id: id(1 + (n % 2)) },
        end:
          n === 333
            ? { exception: 'Timeout' }
            : n === 335
              ? { summary: { usage: { m: { prompt_tokens: 1 } } } }
              : {},
      })
    await record('levels', calls)
    const page = await open('levels')
    await page.getByText('601 calls').waitFor()
    const rows = page.getByRole('treeitem')
    assert.ok((await rows.count()) <= 31)
    assert.equal(await rows.getByText(/fetch|parse/).count(), 0)
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.getByText(/^fetch × \d+/).waitFor()
    assert.equal(await rows.getByText(/^fetch × /).count(), 1)
    await page.getByText('Errors', { exact: true }).click()
    await page.getByRole('treeitem').nth(2).waitFor()
    assert.equal(await rows.count(), 3)
    await page.getByText('LLM only', { exact: true }).click()
    await page.waitForURL(/kinds=models/)
    assert.equal(await rows.count(), 3)
  })

  it('gives the detail of a trace of one call the whole width', async () => {
    await record('alone', [{ start: { op_name: 'chat' } }])
    const page = await open('alone')
    const [detail, both] = [await widthOf(page, '.trace-detail'), await widthOf(page, '.trace')]
    assert.ok(detail > both - 4, `${detail} of ${both}`)
  })
})
