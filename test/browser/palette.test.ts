import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { accepted } from '../api/calls/given.js'
import {
  accessibilityProblems,
  describeInBrowser,
  PROJECT,
  startPages,
  type Pages,
} from '../support/browser.js'
import { recordThread } from './given.js'

/** A name that would be an element, and one whose characters turn the direction of what follows. */
const HOSTILE = '<img src=x onerror=alert(1)> \u202Egnp'

describeInBrowser('the palette', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(3, 20)
    const publish = async (object_id: string, val: object, more: object = {}) =>
      accepted(
        await pages.service.post('/obj/create', { obj: { project_id: PROJECT, object_id, val, ...more } }),
      )
    await publish('golden-orders', {
      _type: 'Dataset',
      _class_name: 'Dataset',
      _bases: ['Object', 'BaseModel'],
      rows: [],
    })
    await publish(
      'view-1',
      { view_type: 'traces', label: `Slow ${HOSTILE}`, definition: { filter: { trace_roots_only: false } } },
      { builtin_object_class: 'SavedView' },
    )
    await recordThread(
      pages.service,
      PROJECT,
      'conversation-9',
      [{ start: { inputs: { messages: [{ role: 'user', content: 'Where is my parcel?' }] } } }],
      'turn',
    )
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const find = async (page: Page, text: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('combobox').fill(text)
  }
  const opened = async () => {
    const page = await pages.open(`/${PROJECT}/traces`)
    await page.getByText('answer_question').first().waitFor()
    return page
  }

  it('finds ops, threads, datasets and saved views of the project, whose names are text', async () => {
    const page = await opened()
    await find(page, 'answer_q')
    await page.getByRole('option', { name: 'answer_question Op' }).click()
    await page.waitForURL(/filter=.*answer_question/)
    await find(page, 'PARCEL')
    await page.getByRole('option', { name: 'Where is my parcel? Thread' }).click()
    await page.waitForURL(/threads\/conversation-9$/)
    await find(page, 'golden')
    await page.getByRole('option', { name: 'golden-orders Dataset' }).waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.getByRole('option', { name: 'golden-orders Dataset' }).click()
    await page.getByRole('heading', { name: 'golden-orders' }).waitFor()
    await find(page, 'onerror')
    await page.getByRole('option', { name: 'Saved view' }).getByText('RLO').waitFor()
    assert.equal(await page.locator('img').count(), 0)
    await page.keyboard.press('Enter')
    await page.waitForURL(/traces\?.*roots=0/)
  })

  it('does what the buttons of the page do', async () => {
    const page = await opened()
    await find(page, 'columns')
    await page.getByRole('option', { name: 'Columns This page' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.goto(`${pages.service.address}/acme/-/webhooks`)
    await page.getByText('no webhooks yet').waitFor()
    await find(page, 'new webhook')
    await page.keyboard.press('Enter')
    await page.waitForURL(/webhooks\/new$/)
  })

  it('changes the theme', async () => {
    const page = await opened()
    await find(page, 'dark')
    await page.getByRole('option', { name: 'Dark theme' }).waitFor()
    await page.keyboard.press('Enter')
    await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
  })
})
