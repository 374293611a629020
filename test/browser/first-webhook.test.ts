import assert from 'node:assert/strict'
import { describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { answers } from '../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../support/receivers/receiver.js'
import { ADMINISTRATOR_KEY } from '../support/service.js'
import { until } from '../support/until.js'
import { choose, failCall, goTo, leaveField, tabTo } from './given.js'

describeInBrowser('from the first sign-in to a webhook that fired', () => {
  let pages: Pages
  let receiver: Receiver
  before(async () => {
    receiver = await startReceiver(answers(200, {}, 'thank you <b>very</b> much'))
    pages = await startPages(3, 40)
  })
  after(async () => {
    await pages.stop()
    await receiver.stop()
  })
  afterEach(() => pages.close())

  const bodies = () => receiver.received.map(({ body }) => body.toString())

  it('by clicks', async () => {
    const page = await pages.open('/', { key: null })
    await page.getByRole('textbox', { name: 'API key' }).fill(ADMINISTRATOR_KEY)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'acme / support' }).click()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('link', { name: 'New webhook' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('by clicks')
    await page.getByRole('textbox', { name: 'Endpoint URL' }).fill(receiver.url)
    await page.getByRole('button', { name: 'Create a secret: Secret' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('CLICKED')
    await dialog
      .getByLabel(/^Value/)
      .first()
      .fill('a signing secret')
    await dialog.getByRole('button', { name: 'Save the secret' }).click()
    await dialog.waitFor({ state: 'detached' })

    await page.getByRole('textbox', { name: 'Test payload' }).fill('{"hello": "receiver"}')
    await page.getByRole('button', { name: 'Test webhook' }).click()
    await page.getByText('The receiver accepted the message: 200').waitFor()
    await page.getByText('thank you <b>very</b> much').waitFor()
    assert.deepEqual(bodies(), ['{"hello": "receiver"}'])

    await page.getByRole('button', { name: 'Create the webhook' }).click()
    await page.getByRole('heading', { name: 'by clicks' }).waitFor()
    await page.getByRole('link', { name: 'Automations' }).click()
    await page.getByRole('link', { name: 'Create automation' }).click()
    await page.getByRole('combobox', { name: 'Project' }).fill('support')
    await page.getByRole('combobox', { name: 'Event' }).click()
    await page.getByRole('option', { name: 'A call fails' }).click()
    await page.getByRole('combobox', { name: 'Webhook' }).click()
    await page.getByRole('option', { name: 'by clicks' }).click()
    await page.getByRole('button', { name: 'Chat message' }).click()
    await page.getByText('CALL_FAILED in acme/support by').waitFor()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('tell the chat')
    await page.getByRole('button', { name: 'Create the automation' }).click()
    await page.getByRole('heading', { name: 'tell the chat' }).waitFor()

    await failCall(pages.service, 'acme/support')
    await until(() => receiver.received.length === 2)
    assert.match(bodies()[1]!, /CALL_FAILED in acme\/support by admin/)
    await page.getByRole('link', { name: 'Deliveries' }).click()
    await page.getByText('delivered').first().waitFor()
  })

  it('by keys alone', async () => {
    const page = await pages.open('/', { key: null })
    const { keyboard } = page
    const type = async (text: string) => {
      await keyboard.type(text)
    }
    const already = receiver.received.length
    await page.locator('input:focus').waitFor()
    await type(ADMINISTRATOR_KEY)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    await goTo(page, 'acme / support')
    await page.getByText('answer_question').first().waitFor()

    await type('gw')
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
    await tabTo(page, 'New webhook')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'New webhook' }).waitFor()
    await tabTo(page, 'Name')
    await type('by keys')
    await tabTo(page, 'Endpoint URL')
    await type(receiver.url)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'by keys' }).waitFor()

    await leaveField(page)
    await type('ga')
    await page.getByRole('heading', { name: 'Automations' }).waitFor()
    await tabTo(page, 'Create automation')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Create automation' }).waitFor()
    await tabTo(page, 'Project')
    await type('support')
    await choose(page, 'Event', 'A call fails')
    await choose(page, 'Webhook', 'by keys')
    await tabTo(page, 'Payload')
    await type('{"by": "keys", "call": "${call_id}"}')
    await tabTo(page, 'Name')
    await type('by keys')
    await keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: 'by keys' }).waitFor()

    const id = await failCall(pages.service, 'acme/support')
    await until(() => receiver.received.length > already)
    await until(() => bodies().includes(`{"by": "keys", "call": "${id}"}`))
    await leaveField(page)
    await type('gd')
    await page.getByText('delivered').first().waitFor()
    await type('j')
    await keyboard.press('Enter')
    await page.getByText('The automation fired.').waitFor()
  })
})
