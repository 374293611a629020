import assert from 'node:assert/strict'
import OpenAI from 'openai'
import type { Page } from 'playwright-core'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { startAnsweringServer, type AnsweringServer } from '../support/answering-server.js'
import { answers } from '../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../support/receivers/receiver.js'
import { ADMINISTRATOR_KEY } from '../support/service.js'
import { until } from '../support/until.js'
import { choose, givenWebhook, leaveField, tabTo } from './given.js'

const ANSWER = {
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'small' },
  usage: { prompt_tokens: 800, completion_tokens: 60, total_tokens: 860 },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Under Settings.' }, finish_reason: 'stop' }],
}
/** 800 tokens at $1 and 60 at $5 for a million. */
const COST = '$0.00110'
/** Without the budget of the first way. */
const OTHER_PROJECT = 'acme/other'
const BUDGET = '0.002'

describeInBrowser('from the first upstream to an alert for its budget', () => {
  let pages: Pages
  let models: AnsweringServer
  let receiver: Receiver
  const credentials: (string | undefined)[] = []
  before(async () => {
    models = await startAnsweringServer((asked, answering) => {
      credentials.push(asked.headers.authorization)
      answering.setHeader('content-type', 'application/json')
      answering.end(
        JSON.stringify(asked.url === '/v1/models' ? { object: 'list', data: [{ id: 'small' }] } : ANSWER),
      )
    })
    receiver = await startReceiver(answers(200))
    pages = await startPages(1, 8)
    await givenWebhook(pages.service, receiver.url, 'chat')
  })
  after(async () => {
    await pages.stop()
    await receiver.stop()
    await models.stop()
  })
  afterEach(() => pages.close())

  const ask = (model: string, project: string) =>
    new OpenAI({
      baseURL: `${pages.service.address}/v1`,
      apiKey: ADMINISTRATOR_KEY,
      project,
    }).chat.completions.create({
      model,
      max_completion_tokens: 60,
      messages: [{ role: 'user', content: 'Where do I change my address?' }],
    })
  const costIn = (page: Page, model: string) =>
    page.getByRole('table', { name: 'Usage' }).getByRole('row', { name: model }).getByText(COST)
  const isAlerted = (name: string) =>
    until(() => receiver.received.some(({ body }) => body.toString().includes(`"${name}"`)))

  it('by clicks', async () => {
    const page = await pages.open(`/${PROJECT}/traces`)
    const dialog = page.getByRole('dialog')
    const fill = (name: string, text: string) =>
      page.getByRole('textbox', { name, exact: true }).last().fill(text)
    await page.getByRole('link', { name: 'Gateway' }).click()
    await page.getByText('no models yet').waitFor()
    await page.getByRole('link', { name: 'Create an upstream' }).click()
    await fill('Name', 'by clicks')
    await page.getByRole('textbox', { name: 'Base URL' }).fill(`${models.url}/v1`)
    await page.getByRole('button', { name: 'Create a secret: Secret' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('CLICKED')
    await dialog
      .getByLabel(/^Value/)
      .first()
      .fill('a key of models')
    await dialog.getByRole('button', { name: 'Save the secret' }).click()
    await dialog.waitFor({ state: 'detached' })
    await fill('Model', 'clicked-model')
    await fill('Name at the upstream', 'small')
    await fill('Input price', '1')
    await fill('Output price', '5')
    await page.getByRole('button', { name: 'Test upstream' }).click()
    await page.getByText('The upstream lists its models: 1').waitFor()
    assert.deepEqual([...new Set(credentials)], ['Bearer a key of models'])
    await page.getByRole('button', { name: 'Create the upstream' }).click()
    await page.getByRole('heading', { name: 'by clicks' }).waitFor()

    await ask('clicked-model', PROJECT)
    assert.equal(credentials.at(-1), 'Bearer a key of models')
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.locator('.legend', { hasText: 'clicked-model' }).waitFor()
    await costIn(page, 'clicked-model').waitFor()

    await page.getByRole('link', { name: 'Gateway' }).click()
    await page.getByRole('row', { name: 'clicked-model' }).getByText('1', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Limits' }).click()
    await page.getByRole('button', { name: 'Set a limit' }).click()
    await dialog.getByText('Project', { exact: true }).click()
    await dialog.getByRole('combobox', { name: 'Project' }).click()
    await page.getByRole('option', { name: 'support' }).click()
    await dialog.getByRole('textbox', { name: 'Budget in dollars' }).fill(BUDGET)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText(`of $0.00200 a month`).waitFor()
    await page.getByRole('link', { name: 'New automation for budgets' }).click()
    await page.getByRole('combobox', { name: 'Webhook' }).click()
    await page.getByRole('option', { name: 'chat' }).click()
    await page.getByRole('textbox', { name: 'Payload' }).fill('{"text": "clicked"}')
    await fill('Name', 'budget by clicks')
    await page.getByRole('button', { name: 'Create the automation' }).click()
    await page.getByRole('heading', { name: 'budget by clicks' }).waitFor()
    await ask('clicked-model', PROJECT)
    await isAlerted('clicked')
  })

  it('by keys alone', async () => {
    const page = await pages.open(`/${OTHER_PROJECT}/usage`)
    const { keyboard } = page
    const type = (text: string) => keyboard.type(text)
    const fill = async (name: string, text: string) => {
      await tabTo(page, name)
      await type(text)
    }
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await type('gy')
    await page.getByRole('heading', { name: 'Gateway' }).waitFor()
    await tabTo(page, 'Models')
    await keyboard.press('ArrowRight')
    await tabTo(page, 'New upstream')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'New upstream' }).waitFor()
    await fill('Name', 'by keys')
    await fill('Base URL', `${models.url}/v1`)
    await tabTo(page, 'Create a secret: Secret')
    await keyboard.press('Enter')
    await page.getByRole('dialog').locator('input:focus').waitFor()
    await type('KEYED')
    await keyboard.press('Tab')
    await type('another key')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await fill('Model', 'keyed-model')
    await fill('Name at the upstream', 'small')
    await fill('Input price', '1')
    await fill('Output price', '5')
    await tabTo(page, 'Test upstream')
    await keyboard.press('Enter')
    await page.getByText('The upstream lists its models: 1').waitFor()
    await tabTo(page, 'Create the upstream')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'by keys' }).waitFor()

    await ask('keyed-model', OTHER_PROJECT)
    assert.equal(credentials.at(-1), 'Bearer another key')
    await leaveField(page)
    await type('gu')
    await page.locator('.legend', { hasText: 'keyed-model' }).waitFor()
    await costIn(page, 'keyed-model').waitFor()

    await type('gy')
    await tabTo(page, 'Models')
    await keyboard.press('ArrowRight')
    await keyboard.press('ArrowRight')
    await page.getByRole('button', { name: 'Set a limit' }).waitFor()
    await tabTo(page, 'Set a limit')
    await keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await fill('Budget in dollars', '0.005')
    await keyboard.press('Enter')
    await page.getByText('of $0.00500 a month').waitFor()
    await tabTo(page, 'New automation for budgets')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Create automation' }).waitFor()
    await choose(page, 'Webhook', 'chat')
    await fill('Payload', '{"text": "keyed"}')
    await fill('Name', 'budget by keys')
    await keyboard.press('Control+Enter')
    await page.getByRole('heading', { name: 'budget by keys' }).waitFor()
    await ask('keyed-model', OTHER_PROJECT)
    await isAlerted('keyed')
  })
})
