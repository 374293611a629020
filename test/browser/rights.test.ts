import assert from 'node:assert/strict'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { answers } from '../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../support/receivers/receiver.js'
import { ADMINISTRATOR_KEY } from '../support/service.js'
import { deliveryOf, failCall, givenWebhook, keyOfMember, type GivenWebhook } from './given.js'

describeInBrowser('pages for people with fewer rights', () => {
  let pages: Pages
  let receiver: Receiver
  let given: GivenWebhook
  let delivery: string
  let member: string
  let stranger: string
  before(async () => {
    receiver = await startReceiver(answers(200))
    pages = await startPages(3, 20)
    const { service } = pages
    given = await givenWebhook(service, receiver.url)
    await failCall(service, PROJECT)
    delivery = await deliveryOf(service, given.automation)
    member = await keyOfMember(service, 'mira')
    await service.teams.create('others')
    const added = await service.post('/api/teams/others/members', { user: 'eve', role: 'team_administrator' })
    stranger = added.json<{ api_key: string }>().api_key
  })
  after(async () => {
    await pages.stop()
    await receiver.stop()
  })
  afterEach(() => pages.close())

  it('show a member no action of an administrator', async () => {
    const { webhook, automation } = given
    for (const [path, text] of [
      ['webhooks', 'Your roles do not allow this'],
      [`webhooks/${webhook}`, 'Your roles do not allow this'],
      ['automations', 'A call fails'],
      [`automations/${automation}`, 'Last execution'],
      ['deliveries', 'CALL_FAILED'],
      [`deliveries/${delivery}`, 'Attempts'],
      ['settings/members', 'mira (you)'],
      ['settings/projects', PROJECT.split('/')[1]!],
    ] as const) {
      const expected = [/^403 GET \/api\/teams\/acme\/webhooks/]
      const page = await pages.open(`/acme/-/${path}`, { key: member, expected })
      await page.getByText(text).first().waitFor()
      const names = await page.locator('main').getByRole('button').allTextContents()
      const links = await page.locator('main').getByRole('link').allTextContents()
      const actions = [...names, ...links].filter((name) =>
        /^(new webhook|create|save|add|delete|remove|release|test|enable|disable|resend|cancel|change roles|settings)/i.test(
          name,
        ),
      )
      assert.deepEqual(actions, [], path)
      assert.equal(await page.locator('main').getByRole('checkbox').count(), 0, path)
      await page.context().close()
    }
  })

  it('say which role a page needs', async () => {
    for (const path of ['webhooks/new', 'automations/new', 'settings/secrets']) {
      const page = await pages.open(`/acme/-/${path}`, { key: member })
      await page.getByText('needs the role team_administrator').waitFor()
      await page.context().close()
    }
  })

  it('do not show what belongs to another team', async () => {
    const { webhook, automation } = given
    for (const path of [
      `/${PROJECT}/traces`,
      `/acme/-/webhooks/${webhook}`,
      `/acme/-/automations/${automation}`,
      `/acme/-/deliveries/${delivery}`,
    ]) {
      const page = await pages.open(path, { key: stranger, expected: [/^404 /] })
      await page.getByText('was not found').first().waitFor()
      assert.equal(await page.getByText('deploy').count(), 0)
      await page.context().close()
    }
    const page = await pages.open('/', { key: stranger })
    await page.getByRole('heading', { name: 'Projects' }).waitFor()
    assert.equal(await page.getByText('acme').count(), 0)
  })

  it('refuse requests that another site makes with the cookie', async () => {
    const page = await pages.open('/')
    const { request } = page.context()
    const forged = await request.post('/api/teams', {
      data: { name: 'forged' },
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    })
    assert.equal(forged.status(), 403)
    const form = await request.post('/api/teams', {
      form: { name: 'forged' },
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    })
    assert.equal(form.status(), 403)
  })

  it('ask for the key again when the session has ended, and keep what was typed', async () => {
    const page = await pages.open('/acme/-/webhooks/new', { expected: [/^401 /] })
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('half done')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Test webhook' }).click()
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.waitFor()
    await dialog.getByLabel('API key').first().fill(ADMINISTRATOR_KEY)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    assert.equal(await name.inputValue(), 'half done')
  })
})
