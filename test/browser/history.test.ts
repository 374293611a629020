import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { newEvent } from '../../src/kernel/event.js'
import { accepted } from '../api/calls/given.js'
import { describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { givenWebhook, keyOfMember } from './given.js'

const PROJECT = 'acme/changes'
const EVIL = '<img src=x onerror="window.wasRun=1">'

describeInBrowser('the history of a project', () => {
  let pages: Pages
  let call: string
  let webhook: string
  before(async () => {
    pages = await startPages(1, 8)
    const { service } = pages
    const { calls, objects } = service.in(PROJECT)
    call = (await calls.start({ op_name: 'first' }).json()).id
    await calls.end(call, { output: EVIL }).json()
    for (const n of [1, 2]) await objects.create('prompt', { n, text: EVIL }).json()
    const key = await keyOfMember(service, 'mira')
    const note = {
      project_id: PROJECT,
      weave_ref: `weave:///${PROJECT}/call/${call}`,
      payload: { note: EVIL },
    }
    accepted(await service.post('/feedback/create', { ...note, feedback_type: 'wandb.note.1' }, { key }))
    webhook = (await givenWebhook(service, 'http://127.0.0.1:9/')).webhook
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const openHistory = async (search = '') => {
    const page = await pages.open(`/${PROJECT}/history${search}`)
    await page.getByRole('heading', { level: 1, name: 'History' }).waitFor()
    return page
  }
  type Page = Awaited<ReturnType<typeof openHistory>>
  const table = (page: Page) => page.getByRole('table', { name: 'Events' })
  const eventsOf = async (page: Page) => {
    await table(page).waitFor()
    return table(page).locator('tbody tr td:nth-child(2)').allInnerTexts()
  }

  it('lists the changes newest first, and is reached from the other pages', async () => {
    const page = await pages.open(`/${PROJECT}/traces`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('link', { name: 'History' }).first().click()
    const events = await eventsOf(page)
    assert.deepEqual(events.slice(0, 3), ['feedback given', 'object published', 'object published'])
    assert.ok(!events.includes('call started'))
    assert.match(await page.title(), /^History · acme\/changes/)
    await page.getByText(/Sealed since/).waitFor()
  })

  it('is filtered by type, by whom and by object, in the address', async () => {
    const page = await openHistory()
    await eventsOf(page)
    await page.getByRole('combobox', { name: 'Events' }).click()
    await page.getByRole('option', { name: 'All events' }).click()
    await page.waitForURL(/types=all/)
    await page.getByRole('button', { name: 'call ended' }).waitFor()
    await page.getByRole('textbox', { name: 'By whom' }).fill('mira')
    await page.keyboard.press('Enter')
    await page.waitForURL(/actor=mira/)
    await page.getByText('1 event', { exact: true }).waitFor()
    assert.deepEqual(await eventsOf(page), ['feedback given'])
    await page.reload()
    assert.deepEqual(await eventsOf(page), ['feedback given'])
    await page.getByRole('textbox', { name: 'Id or name of an object' }).fill('prompt')
    await page.keyboard.press('Enter')
    await page.getByText('No event matches').waitFor()
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    assert.ok((await eventsOf(page)).length > 1)
    await page.goto(`${pages.service.address}/${PROJECT}/history?object=prompt`)
    assert.deepEqual(await eventsOf(page), ['object published', 'object published'])
  })

  it('shows the event of a row, with the proof that the log has it', async () => {
    const page = await openHistory()
    await table(page).waitFor()
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'The event' })
    await panel.getByText(EVIL).first().waitFor()
    assert.equal(await page.evaluate('window.wasRun'), undefined)
    await panel.getByText('correlationId').waitFor()
    const downloading = page.waitForEvent('download')
    await panel.getByRole('link', { name: 'Download the proof' }).click()
    const download = await downloading
    assert.match(download.suggestedFilename(), /^[0-9a-f-]{36}\.tlog-proof$/)
    assert.match(await readFile(await download.path(), 'utf8'), /^c2sp\.org\/tlog-proof@v1\n/)
    await page.reload()
    await panel.getByText('correlationId').waitFor()
    await panel.getByRole('link', { name: 'All events of this object' }).click()
    await page.waitForURL(/object=/)
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'hidden' })
    await page.goto(`${pages.service.address}/${PROJECT}/history?event=1`)
    await panel.getByText('The project has no such event at 1.').waitFor()
  })

  it('says how to verify the log', async () => {
    const page = await openHistory()
    await page.getByText('Verify it yourself').click()
    const keys = accepted(await pages.service.send('GET', '/api/log/checkpoints?limit=1')) as {
      verifier_keys: string[]
      data: { size: number }[]
    }
    assert.equal(keys.data.length, 1)
    const commands = await page.locator('.sealed pre').innerText()
    for (const text of [keys.verifier_keys[0]!, 'bin/verify-log.mjs --url', 'log prove EVENT', 'log check'])
      assert.ok(commands.includes(text), text)
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'checkpoint' }).click()
    assert.match(await readFile(await (await downloading).path(), 'utf8'), /\n\d+\n[^\n]{44}\n\n— /)
  })

  it('is reached from a call and from a webhook', async () => {
    const page = await pages.open(`/${PROJECT}/calls/${call}`)
    await page.locator('.trace-detail').getByRole('link', { name: 'History' }).click()
    assert.deepEqual(await eventsOf(page), ['call ended', 'call started'])
    await page.goto(`${pages.service.address}/acme/-/webhooks/${webhook}`)
    await page.locator('main').getByRole('link', { name: 'History' }).click()
    assert.ok((await eventsOf(page)).includes('webhook created'))
  })

  it('says how far it was searched, and searches further', async () => {
    const cause = { correlationId: 'c', causationId: 'c', actor: 'system' }
    const data = { id: 'w', team: 'other', duration_ms: 1, status: 200 }
    for (let from = 0; from < 20_500; from += 500) {
      const events = Array.from({ length: 500 }, () =>
        newEvent(randomUUID(), { type: 'TestSent', data }, cause),
      )
      await pages.service.stores.eventStore.append(`webhook-${from}`, 'none', events)
    }
    const page = await openHistory('?types=all')
    await page.getByText(/^Searched back to position .* of the log, and not further\.$/).waitFor()
    assert.equal(await table(page).count(), 0)
    await page.getByRole('button', { name: 'Search further' }).click()
    assert.ok((await eventsOf(page)).includes('call started'))
    // Changes are found by the index of types.
    await page.goto(`${pages.service.address}/${PROJECT}/history`)
    assert.equal((await eventsOf(page))[0], 'feedback given')
  })
})
