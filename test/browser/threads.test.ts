import assert from 'node:assert/strict'
import { aStart, anEnd } from '../support/call-requests.js'
import { accepted } from '../api/calls/given.js'
import { describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { recordThread, timeOf } from './given.js'

const PROJECT = 'acme/threads'

describeInBrowser('threads', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(1, 8)
    const summary = { usage: { 'gpt-4o': { prompt_tokens: 1000, completion_tokens: 200, requests: 1 } } }
    await recordThread(
      pages.service,
      PROJECT,
      'order',
      [
        {
          start: {
            inputs: { messages: [{ role: 'user', content: 'Where is my order?' }] },
            attributes: { user: 'ada' },
          },
          end: { output: 'On its way.\n\nIt arrives today.', summary },
        },
        { start: { inputs: { question: 'When?' } }, end: { exception: 'TimeoutError: no answer' } },
        { start: { inputs: { question: 'And now?' } }, end: { output: 'At noon.' } },
      ],
      'order',
    )
    const tool = {
      id: 'tool',
      trace_id: 'order-1',
      parent_id: 'order-1',
      op_name: 'find_order',
      started_at: timeOf(0),
    }
    accepted(await pages.service.post('/call/start', { start: aStart(PROJECT, tool) }))
    accepted(
      await pages.service.post('/call/end', {
        end: anEnd(PROJECT, 'tool', { ended_at: timeOf(1), output: 'order 7' }),
      }),
    )
    const many = Array.from({ length: 120 }, (_, n) => ({ end: { output: `answer ${n + 1}.` } }))
    await recordThread(pages.service, PROJECT, 'long', many, 'long')
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const openOrder = async (search = '') => {
    const page = await pages.open(`/${PROJECT}/threads/order${search}`)
    await page.getByRole('heading', { name: 'Where is my order?' }).waitFor()
    return page
  }
  const details = { name: 'Selected turn' }

  it('show the turns or the selected call in narrow windows, as traces show the tree or the call', async () => {
    const page = await openOrder()
    for (const [path, list, name] of [
      ['threads/order', '.turns', 'Thread'],
      ['traces/order-1', '.tree-side', 'Tree'],
    ] as const) {
      await page.setViewportSize({ width: 1024, height: 800 })
      await page.goto(`${pages.service.address}/${PROJECT}/${path}`)
      const control = page.getByRole('radiogroup', { name: 'Shown part' })
      await page.locator(list).waitFor()
      await page.locator('.trace-detail').waitFor({ state: 'hidden' })
      await control.getByText('Call').click()
      await page.locator('.trace-detail').waitFor()
      await page.locator(list).waitFor({ state: 'hidden' })
      await control.getByText(name).click()
      await page.locator(list).waitFor()
      await page.setViewportSize({ width: 1440, height: 800 })
      await page.locator('.trace-detail').waitFor()
      await control.waitFor({ state: 'hidden' })
    }
  })

  it('are listed with what they cost and failed in, searched, and opened by keys', async () => {
    const page = await pages.open(`/${PROJECT}/traces`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await page.waitForURL(/\/threads$/)
    const row = page.getByRole('row', { name: /Where is my order/ })
    await row.waitFor()
    const cells = await row.getByRole('cell').allInnerTexts()
    assert.deepEqual(cells.slice(0, 7), [
      'Where is my order?',
      'order',
      'ada',
      '3',
      '1',
      '1\u2009200',
      '$0.00450',
    ])
    assert.equal(await page.getByRole('row').count(), 3)
    await page.getByRole('textbox', { name: 'Search in threads' }).fill('AT NOON')
    await page.keyboard.press('Enter')
    await page.getByText('1 thread', { exact: true }).waitFor()
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/threads\/order$/)
    await page.getByRole('heading', { name: 'Where is my order?' }).waitFor()
    assert.match(await page.title(), /^Where is my order\? · acme\/threads/)
  })

  it('are read as a chat, turn by turn, with the call of the turn', async () => {
    const page = await openOrder()
    const selected = page.getByRole('region', details)
    await selected.getByText('On its way.').waitFor()
    const [user, assistant] = await Promise.all(
      ['user', 'assistant'].map((role) => page.locator(`.bubble[data-role=${role}]`).first().boundingBox()),
    )
    assert.ok(user!.x > assistant!.x)
    await page.keyboard.press('j')
    await page.waitForURL(/turn=order-2/)
    await selected.getByText('TimeoutError: no answer').waitFor()
    assert.equal(await selected.getByText('On its way.').count(), 0)
    await page.reload()
    await selected.getByText('TimeoutError: no answer').waitFor()
    await page.keyboard.press('k')
    await page.getByText('1 call below').click()
    await page.getByRole('link', { name: 'find_order' }).click()
    await page.waitForURL(/traces\/order-1\?call=tool/)
  })

  it('show messages, turns or details', async () => {
    const page = await openOrder()
    assert.equal(await page.locator('.turn').getByText('gpt-4o').count(), 0)
    await page.keyboard.press('v')
    await page.waitForURL(/density=turns/)
    assert.equal(await page.locator('.bubble').count(), 0)
    await page.locator('.turn').getByText('gpt-4o').waitFor()
    await page.getByText('Details', { exact: true }).click()
    await page.waitForURL(/density=details/)
    await page.locator('.bubble').first().waitFor()
  })

  it('take feedback on a turn', async () => {
    const page = await openOrder('?turn=order-3')
    await page.getByRole('tab', { name: /Feedback/ }).click()
    await page.getByRole('button', { name: 'Thumbs up' }).click()
    await page.getByRole('region', details).getByText('wandb.reaction.1').waitFor()
    await page.reload()
    await page.locator('#turn-order-3').getByTitle('Feedback').waitFor()
  })

  it('show feedback that was given while the feedback loaded', async () => {
    const page = await openOrder('?turn=order-2')
    const written = page.waitForResponse('**/feedback/create')
    let isFirst = true
    await page.route('**/feedback/query', async (route) => {
      const isHeld = isFirst
      isFirst = false
      const response = await route.fetch()
      if (isHeld) await written
      await route.fulfill({ response })
    })
    await page.getByRole('tab', { name: /Feedback/ }).click()
    await page.getByRole('button', { name: 'Thumbs down' }).click()
    await page.getByRole('region', details).getByText('wandb.reaction.1').waitFor()
  })

  it('show more turns on demand, and reach the turn of a link', async () => {
    const page = await pages.open(`/${PROJECT}/threads/long`)
    await page.getByText('answer 50.').first().waitFor()
    assert.equal(await page.getByText('answer 51.').count(), 0)
    await page.getByRole('button', { name: 'Show more turns' }).click()
    await page.getByText('answer 51.').waitFor()
    await page.goto(`${pages.service.address}/${PROJECT}/threads/long?turn=long-120`)
    await page.getByRole('region', details).getByText('answer 120.').waitFor()
  })
})
