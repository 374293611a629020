import assert from 'node:assert/strict'
import { describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { recordTrace } from './given.js'

const PROJECT = 'acme/compare'

describeInBrowser('the comparison of two calls', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(1, 8)
    const completion = (temperature: number, question: string, city: string, tokens: number) => ({
      start: {
        op_name: `ask_${city}`,
        inputs: {
          model: 'gpt-4o',
          temperature,
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: question },
          ],
          documents: [{ city, size: 7 }, { city: 'Rome' }],
        },
      },
      end: {
        output: { role: 'assistant', content: `It rains in ${city} today.` },
        summary: { usage: { 'gpt-4o': { prompt_tokens: tokens, requests: 1 } } },
      },
    })
    await recordTrace(pages.service, PROJECT, 'both', [
      {},
      completion(0.2, 'Does it rain?', 'Paris', 1000),
      completion(0.7, 'Does it snow?', 'Oslo', 2000),
    ])
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const both = `/${PROJECT}/compare?calls=both-1,both-2`

  it('shows what differs: parameters, words of messages, values by path, figures', async () => {
    const page = await pages.open(both)
    const row = (name: string) => page.getByRole('group', { name, exact: true })
    const partsOf = async (name: string) =>
      (await row(name).locator('> div').allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())
    await row('user').waitFor()
    assert.deepEqual(await partsOf('temperature'), ['temperature', '0.2', '0.7'])
    assert.deepEqual(await partsOf('Tokens'), ['Tokens', '1 000', '2 000 +1 000 ×2'])
    assert.deepEqual(await partsOf('Cost'), ['Cost', '$0.00250', '$0.00500 +$0.00250 ×2'])
    assert.deepEqual(await partsOf('documents[0].city'), ['documents[0].city', 'Paris', 'Oslo'])
    assert.deepEqual(await page.locator('del').allInnerTexts(), ['0.2', 'rain', 'Paris', 'Paris'])
    assert.deepEqual(await page.locator('ins').allInnerTexts(), ['0.7', 'snow', 'Oslo', 'Oslo'])
  })

  it('hides what is equal until it is asked for, and swaps the sides', async () => {
    const page = await pages.open(both)
    await page.getByRole('group', { name: 'user' }).waitFor()
    assert.equal(await page.getByRole('group', { name: 'system' }).isVisible(), false)
    await page.getByRole('region', { name: 'Attributes' }).getByText('No differences').waitFor()
    await page.getByRole('switch', { name: 'Only differences' }).click()
    await page.waitForURL(/all=1/)
    await page.getByRole('group', { name: 'system' }).waitFor()
    await page.getByRole('group', { name: 'documents[1].city' }).waitFor()
    await page.getByRole('button', { name: 'Swap' }).click()
    await page.waitForURL(/calls=both-2%2Cboth-1/)
    await page.locator('del', { hasText: 'snow' }).waitFor()
    await page.reload()
    await page.locator('del', { hasText: 'snow' }).waitFor()
    await page.getByRole('link', { name: 'ask_Paris' }).click()
    await page.waitForURL(/traces\/both\?call=both-1/)
  })

  it('starts from a call of a trace, by a key', async () => {
    const page = await pages.open(`/${PROJECT}/traces/both?call=both-1`)
    await page.getByText('Does it rain?').waitFor()
    await page.keyboard.press('d')
    await page.getByText('Select the call of the trace').waitFor()
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowDown')
    await page.locator('ins', { hasText: 'snow' }).waitFor()
    await page.reload()
    await page.locator('ins', { hasText: 'snow' }).waitFor()
    await page.getByRole('button', { name: 'Swap' }).click()
    await page.locator('del', { hasText: 'snow' }).waitFor()
    await page.getByRole('link', { name: 'Open on a page' }).click()
    await page.waitForURL(/\/compare\?calls=/)
    await page.locator('del', { hasText: 'snow' }).waitFor()
  })

  it('says which calls it needs, and if one is missing', async () => {
    const page = await pages.open(`/${PROJECT}/compare`)
    await page.getByText('Two calls are compared').waitFor()
    const missing = await pages.open(`/${PROJECT}/compare?calls=both-1,none`, { expected: [/^404 POST /] })
    await missing.getByText('One of the calls was not found').waitFor()
  })
})
