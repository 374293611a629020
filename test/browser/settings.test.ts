import assert from 'node:assert/strict'
import { accepted, textIn } from '../api/calls/given.js'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { answers } from '../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../support/receivers/receiver.js'
import { ADMINISTRATOR_KEY } from '../support/service.js'
import { until } from '../support/until.js'
import { deliveryOf, failCall, givenWebhook, type GivenWebhook } from './given.js'

interface Styles {
  readonly getComputedStyle: (element: unknown) => { readonly direction: string }
}

describeInBrowser('what administrators do on the pages', () => {
  let pages: Pages
  let receiver: Receiver
  let given: GivenWebhook
  before(async () => {
    receiver = await startReceiver(answers(500))
    pages = await startPages(1, 8)
    given = await givenWebhook(pages.service, receiver.url)
  })
  after(async () => {
    await pages.stop()
    await receiver.stop()
  })
  afterEach(() => pages.close())

  const read = async (path: string) => accepted(await pages.service.send('GET', path))

  it('adds a member, whose key is shown once, changes roles, and removes the member', async () => {
    const page = await pages.open('/acme/-/settings/members')
    await page.getByRole('button', { name: 'Add a member' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'User' }).fill('aiko')
    await dialog.getByRole('textbox', { name: 'Administrator of only these projects' }).fill('support')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('it is not shown again').waitFor()
    const key = (await dialog.locator('pre').textContent()) ?? ''
    assert.equal((await pages.service.send('GET', '/api/users/me', undefined, { key })).status, 200)
    await page.keyboard.press('Escape')
    await page.getByText('Member, Project administrator of support').waitFor()

    await page.getByRole('button', { name: 'Change roles of aiko' }).click()
    await dialog.getByRole('checkbox', { name: 'Team administrator' }).check()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Team administrator').waitFor()

    await page.getByRole('button', { name: 'Remove aiko from acme' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('This team has no members yet').waitFor()
  })

  it('stores, replaces and deletes a secret, and names who uses it', async () => {
    accepted(
      await pages.service.post('/api/inference/upstreams', {
        name: 'local',
        team: 'acme',
        base_url: `${receiver.url}/v1`,
        models: [{ id: 'acme/local', upstream_id: 'local' }],
        headers: { 'x-key': '$HOOK_TOKEN' },
      }),
    )
    const page = await pages.open('/acme/-/settings/secrets')
    await page.getByRole('button', { name: 'New value for SIGNING_KEY' }).click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByLabel(/^Value/)
      .first()
      .fill('another value')
    await dialog.getByRole('button', { name: 'Save the secret' }).click()
    await dialog.waitFor({ state: 'detached' })
    const { data } = (await read('/api/teams/acme/secrets')) as unknown as {
      data: { name: string; version: number }[]
    }
    assert.equal(data.find(({ name }) => name === 'SIGNING_KEY')?.version, 2)
    await page.getByRole('button', { name: 'Delete the secret HOOK_TOKEN' }).click()
    await dialog.getByText('These do not work without it: upstream local, webhook deploy').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  it('asks before the changes of a dialog are lost', async () => {
    const dialogs: readonly (readonly [path: string, button: string, field: string])[] = [
      ['/acme/-/settings/members', 'Add a member', 'User'],
      ['/acme/-/settings/secrets', 'Create a secret', 'Name'],
      ['/acme/-/gateway/limits', 'Set a limit', 'Budget in dollars'],
      [`/${PROJECT}/evaluations/rules`, 'New rule', 'Name'],
    ]
    const page = await pages.open('about:blank')
    for (const [path, button, field] of dialogs) {
      await page.goto(`${pages.service.address}${path}`)
      const form = page.getByRole('dialog').filter({ has: page.getByRole('textbox', { name: field }) })
      const question = page.getByRole('dialog', { name: 'Close without saving?' })
      await page.getByRole('button', { name: button }).click()
      await form.waitFor()
      await page.keyboard.press('Escape')
      await form.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: button }).click()
      await form.getByRole('textbox', { name: field }).fill('12')
      await page.keyboard.press('Escape')
      await question.getByRole('button', { name: 'Stay' }).click()
      await question.waitFor({ state: 'detached' })
      assert.equal(await form.getByRole('textbox', { name: field }).inputValue(), '12')
      await page.keyboard.press('Escape')
      await question.getByRole('button', { name: 'Discard' }).click()
      await form.waitFor({ state: 'detached' })
    }
  })

  it('asks before the changes of project settings are lost, also to the palette', async () => {
    const page = await pages.open('/acme/-/settings/projects')
    await page.getByRole('button', { name: 'Settings of support' }).click()
    const form = page.getByRole('dialog', { name: 'Settings of support' })
    const metadata = form.getByRole('radio', { name: 'Metadata' })
    await metadata.check()
    await page.keyboard.press('Escape')
    const closing = page.getByRole('dialog', { name: 'Close without saving?' })
    await closing.getByRole('button', { name: 'Stay' }).click()
    await closing.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: /^A name/ }).fill('Webhooks')
    await page
      .getByRole('option', { name: /Webhooks/ })
      .first()
      .click()
    const leaving = page.getByRole('dialog', { name: 'Leave without saving?' })
    await leaving.getByRole('button', { name: 'Stay' }).click()
    await leaving.waitFor({ state: 'detached' })
    assert.equal(await metadata.isChecked(), true)
    await page.keyboard.press('Escape')
    await closing.getByRole('button', { name: 'Discard' }).click()
    await form.waitFor({ state: 'detached' })
    assert.equal((await read(`/api/projects/${PROJECT}`))['record'], 'all')
  })

  it('asks before the name of a new key is lost', async () => {
    const page = await pages.open('/-/account')
    await page.getByRole('textbox', { name: 'Name of a new key' }).fill('laptop')
    await page.getByRole('link', { name: 'Tallytree' }).click()
    await page
      .getByRole('dialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Leave' })
      .click()
    await page.waitForURL(`${pages.service.address}/`)
  })

  it('writes from the right what is typed from the right', async () => {
    const page = await pages.open('/acme/-/settings/members')
    await page.getByRole('button', { name: 'Add a member' }).click()
    const user = page.getByRole('dialog').getByRole('textbox', { name: 'User' })
    const direction = () =>
      user.evaluate((field) => (globalThis as unknown as Styles).getComputedStyle(field).direction)
    await user.fill('ada')
    assert.equal(await direction(), 'ltr')
    await user.fill('\u0639\u0644\u064a')
    assert.equal(await direction(), 'rtl')
  })

  it('says how a project reports usage, names its end users and keeps content', async () => {
    const page = await pages.open('/acme/-/settings/projects')
    await page.getByRole('button', { name: 'Settings of support' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: 'With descendants' }).check()
    await dialog.getByRole('textbox', { name: 'Attribute with the end user' }).fill('customer.id')
    await dialog.getByRole('textbox', { name: 'Days after which content is erased' }).fill('400')
    await dialog.getByRole('checkbox', { name: 'with feedback' }).check()
    await dialog.getByText('No call is that old now.').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'detached' })
    const settings = await read(`/api/projects/${PROJECT}`)
    assert.equal(settings['usage_reporting'], 'rolled_up')
    assert.equal(settings['end_user_attribute'], 'customer.id')
    assert.deepEqual(settings['retention'], { content_days: 400, except: ['with_feedback'], figures_days: 0 })
  })

  it('deletes a project once its name is typed', async () => {
    await pages.service.in('acme/doomed').calls.start().json()
    const page = await pages.open('/acme/-/settings/projects')
    await page.getByRole('button', { name: 'Settings of doomed' }).click()
    await page.getByRole('button', { name: 'Delete doomed' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete doomed?' })
    await dialog.getByText('1 call').waitFor()
    const remove = dialog.getByRole('button', { name: 'Delete for ever' })
    assert.ok(await remove.isDisabled())
    await dialog.getByRole('textbox', { name: 'Type doomed to confirm' }).fill('doomed')
    await remove.click()
    await dialog.getByText('The project was deleted.').waitFor()
    await dialog.getByText('Erased').waitFor({ timeout: 100_000 })
    await dialog.getByRole('button', { name: 'Close', exact: true }).last().click()
    await page.getByText('doomed').first().waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Settings of support' }).waitFor()
  })

  it('creates and revokes a key, and ends another session', async () => {
    const other = await pages.open('/')
    const page = await pages.open('/-/account')
    await page.getByRole('textbox', { name: 'Name of a new key' }).fill('laptop')
    await page.getByLabel('Expires').selectOption('in 30 days')
    await page.getByRole('button', { name: 'Create a key' }).click()
    const dialog = page.getByRole('dialog')
    const key = (await dialog.locator('pre').first().textContent()) ?? ''
    await dialog.getByText(`os.environ["WANDB_API_KEY"] = "${key}"`).waitFor()
    await page.keyboard.press('Escape')
    const listed = accepted(await pages.service.send('GET', '/api/users/me/api-keys', undefined, { key }))
    const { expires_at } = (listed['data'] as { name: string; expires_at: string }[]).find(
      ({ name }) => name === 'laptop',
    )!
    assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 30 * 24 * 3600_000) < 60_000)
    await page.getByRole('button', { name: 'Revoke laptop' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('laptop').waitFor({ state: 'detached' })
    assert.equal((await pages.service.send('GET', '/api/users/me', undefined, { key })).status, 401)

    const before = await page.getByRole('button', { name: 'End', exact: true }).count()
    await page.getByRole('button', { name: 'End', exact: true }).first().click()
    await until(async () => (await page.getByRole('button', { name: 'End', exact: true }).count()) < before)
    await other.context().close()
  })

  it('revokes a key with the keys that it made only when asked to', async () => {
    const keyNamed = async (name: string, key: string | null = ADMINISTRATOR_KEY) =>
      textIn(
        accepted(await pages.service.send('POST', '/api/users/me/api-keys', { name }, { key })),
        'api_key',
      )
    const statusOf = async (key: string) =>
      (await pages.service.send('GET', '/api/users/me', undefined, { key })).status
    const rotated = await keyNamed('rotated')
    const kept = await keyNamed('its successor', rotated)
    const leaked = await keyNamed('leaked')
    const made = await keyNamed('made by a leaked key', leaked)
    const page = await pages.open('/-/account')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Revoke rotated' }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('rotated').waitFor({ state: 'detached' })
    assert.deepEqual([await statusOf(rotated), await statusOf(kept)], [401, 200])
    await page.getByRole('button', { name: 'Revoke leaked' }).click()
    await dialog.getByRole('checkbox', { name: 'Also revoke the keys that it made' }).check()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('made by a leaked key').waitFor({ state: 'detached' })
    assert.deepEqual([await statusOf(leaked), await statusOf(made)], [401, 401])
  })

  it('cancels a delivery and sends it again, and sees what was sent and answered', async () => {
    await failCall(pages.service, PROJECT)
    const id = await deliveryOf(pages.service, given.automation)
    const page = await pages.open(`/acme/-/deliveries/${id}`)
    await page.getByText('Sent headers').click()
    await page.getByText('webhook-id:').waitFor()
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Resend' }).waitFor()
    receiver.behave(answers(200, {}, 'thank you'))
    await page.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('Attempt 2').waitFor()

    const list = await pages.open('/acme/-/deliveries')
    await list.getByRole('checkbox').first().check()
    await list.getByText('1 delivery selected').waitFor()
    await list.getByRole('button', { name: 'Resend', exact: true }).click()
    await list.getByText(/not possible|1 done/).waitFor()
  })

  it('disables an automation, and deletes a webhook whose users are named', async () => {
    const list = await pages.open('/acme/-/automations')
    await list.getByRole('switch', { name: 'deploy is enabled' }).click()
    await until(async () => (await read(`/api/automations/${given.automation}`))['enabled'] === false)
    const page = await pages.open(`/acme/-/webhooks/${given.webhook}`)
    await page.getByRole('button', { name: 'Delete the webhook deploy' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('These automations have no webhook then: deploy').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('This team has no webhooks yet').waitFor()
    const broken = await pages.open(`/acme/-/automations/${given.automation}`)
    await broken.getByText('Its webhook was deleted. Choose another one.').waitFor()
  })

  it('keeps what was typed in a form that is refused, and goes to the field', async () => {
    const page = await pages.open('/acme/-/webhooks/new', { expected: [/^422 POST /] })
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('wrong')
    await page.getByRole('textbox', { name: 'Endpoint URL' }).fill('not a url')
    await page.getByRole('button', { name: 'Create the webhook' }).click()
    await page.getByText('The webhook was not saved').waitFor()
    const focused = page.locator(':focus')
    assert.equal(await focused.inputValue(), 'not a url')
    assert.equal(await focused.getAttribute('aria-invalid'), 'true')
  })

  it('marks errors in a payload at their place, and puts in the nearest name', async () => {
    await givenWebhook(pages.service, receiver.url, 'another')
    const page = await pages.open('/acme/-/automations/new?project=support')
    await page.getByRole('combobox', { name: 'Webhook' }).click()
    await page.getByRole('option', { name: 'another' }).click()
    await page.getByRole('textbox', { name: 'Payload' }).fill('{\n  "alias": "${aliass}"\n}')
    await page.getByText(/Line 2, column 1\d/).waitFor()
    assert.equal(await page.locator('.payload mark').count(), 1)
    await page.getByRole('button', { name: 'Use ${alias}' }).click()
    await page.locator('.payload mark').waitFor({ state: 'detached' })
    assert.match(await page.getByRole('textbox', { name: 'Payload' }).inputValue(), /\$\{alias\}/)
  })
})
