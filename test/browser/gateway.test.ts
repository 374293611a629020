import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import { demoGateway, startModels } from '../../demo/gateway.js'
import { accepted } from '../api/calls/given.js'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { keyOfMember } from './given.js'

describeInBrowser('the pages of the gateway', () => {
  let pages: Pages
  let models: { readonly url: string; readonly server: Server }
  before(async () => {
    models = await startModels()
    pages = await startPages(1, 8)
    const send = async (method: string, path: string, body?: object, headers?: Record<string, string>) =>
      accepted(await pages.service.send(method, path, body, { headers: headers ?? {} }))
    await demoGateway(PROJECT, models.url, send, 3)
    await keyOfMember(pages.service, 'mira')
  })
  after(async () => {
    await pages.stop()
    models.server.close()
  })
  afterEach(() => pages.close())

  it('show the models with their prices and health', async () => {
    const page = await pages.open(`/${PROJECT}/traces`)
    await page.getByText('answer_question').first().waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('y')
    const row = page.getByRole('row', { name: /acme\/assistant/ })
    await row.getByText('$0.60').waitFor()
    await row.getByText('$2.40').waitFor()
    await row.getByText('healthy').waitFor()
  })

  it('lead from the requests of a model to their calls, by project where several have some', async () => {
    const page = await pages.open('/acme/-/gateway')
    const figures = page.getByRole('row', { name: /acme\/assistant/ }).getByRole('link')
    await figures.getByText('3', { exact: true }).click()
    await page.getByText('3 calls').waitFor()
    await page.getByText('requested model is acme/assistant').waitFor()
    const body = { model: 'acme/assistant', messages: [{ role: 'user', content: 'hello' }] }
    const headers = { 'openai-project': 'acme/other' }
    accepted(await pages.service.send('POST', '/v1/chat/completions', body, { headers }))
    await page.goto('/acme/-/gateway')
    await figures.getByText('4', { exact: true }).click()
    const byProject = page.getByRole('table', { name: 'acme/assistant by project' })
    await byProject
      .getByRole('row', { name: /support/ })
      .getByText('0\u2009%')
      .waitFor()
    await byProject.getByRole('row', { name: /other/ }).getByRole('link').first().click()
    await page.getByText('1 call', { exact: true }).waitFor()
  })

  it('lead to a model from the palette', async () => {
    const page = await pages.open('/acme/-/webhooks')
    await page.getByText('no webhooks yet').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill('assistant')
    await page.getByRole('option', { name: /acme\/assistant/ }).click()
    await page.getByRole('heading', { name: 'our servers' }).waitFor()
  })

  it('test, create, change and delete an upstream', async () => {
    const page = await pages.open('/acme/-/gateway/upstreams')
    await page.getByRole('link', { name: 'New upstream' }).click()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('other servers')
    await page.getByRole('textbox', { name: 'Base URL' }).fill(models.url)
    await page.getByRole('textbox', { name: 'Model', exact: true }).fill('acme/other')
    await page.getByRole('textbox', { name: 'Name at the upstream' }).fill('other')
    await page.getByRole('textbox', { name: 'Input price' }).fill('2.5')
    await page.getByRole('textbox', { name: 'Output price' }).fill('10')
    await page.getByRole('button', { name: 'Test upstream' }).click()
    await page.getByText('It does not list other.').waitFor()
    await page.getByRole('button', { name: 'Create the upstream' }).click()
    await page.getByRole('heading', { name: 'other servers' }).waitFor()
    const { data } = accepted(
      await pages.service.send('GET', '/api/inference/upstreams?team=acme'),
    ) as unknown as { data: { name: string; models: { price: Record<string, string> }[] }[] }
    const { price } = data.find(({ name }) => name === 'other servers')!.models[0]!
    assert.equal(Number(price['prompt_token_cost']), 0.0000025)
    await page.getByRole('textbox', { name: 'Weight' }).fill('3')
    await page.getByRole('button', { name: 'Save the upstream' }).click()
    await page.getByText('Saved.').waitFor()
    await page.getByRole('button', { name: 'Delete the upstream other servers' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('link', { name: 'our servers' }).waitFor()
    assert.equal(await page.getByText('other servers').count(), 0)
  })

  it('show what is used of limits, and set, edit and remove them', async () => {
    const page = await pages.open('/acme/-/gateway/limits')
    await page
      .getByRole('row', { name: /project support/ })
      .getByText('a day')
      .waitFor()
    await page.getByRole('button', { name: 'Edit the limit of project support' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Budget in dollars' }).fill('0.5')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('of $0.500 a day').waitFor()
    await page.getByRole('button', { name: 'Remove the limit of project support' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('project support').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Set a limit' }).click()
    await dialog.getByText('API key', { exact: true }).click()
    await dialog.getByRole('combobox', { name: 'API key' }).click()
    await page.getByRole('option', { name: /of mira/ }).click()
    await dialog.getByRole('textbox', { name: 'Requests a minute' }).fill('7')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('0 of 7').waitFor()
  })

  it('let an administrator of the team revoke the key of a member', async () => {
    const key = await keyOfMember(pages.service, 'ines', 'team_administrator')
    const page = await pages.open('/acme/-/gateway/keys', { key })
    await page.getByRole('button', { name: /^Revoke .* of mira$/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: 'mira' }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: 'ines' }).waitFor()
  })

  it('are not for members', async () => {
    const key = await keyOfMember(pages.service, 'noor')
    for (const path of ['models', 'upstreams/new', 'limits', 'keys']) {
      const page = await pages.open(`/acme/-/gateway/${path}`, { key })
      await page.getByText('needs the role team_administrator').waitFor()
      await page.context().close()
    }
  })
})
