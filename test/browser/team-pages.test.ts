import assert from 'node:assert/strict'
import { describeInBrowser, PROJECT, startPages, type Pages } from '../support/browser.js'
import { answers } from '../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../support/receivers/receiver.js'
import { deliveryOf, failCall, givenWebhook, recordTrace, type GivenWebhook } from './given.js'

describeInBrowser('the pages of a team', () => {
  let pages: Pages
  let receiver: Receiver
  let given: GivenWebhook
  let delivery: string
  before(async () => {
    receiver = await startReceiver(answers(401))
    pages = await startPages(1, 8)
    given = await givenWebhook(pages.service, receiver.url)
    await failCall(pages.service, PROJECT)
    delivery = await deliveryOf(pages.service, given.automation)
  })
  after(async () => {
    await pages.stop()
    await receiver.stop()
  })
  afterEach(() => pages.close())

  const askBefore = async (path: string) => {
    const page = await pages.open(path)
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('renamed')
    const deliveries = page
      .getByRole('navigation', { name: 'Pages' })
      .getByRole('link', { name: /^Deliveries/ })
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' })
    await deliveries.click()
    await dialog.getByRole('button', { name: 'Stay' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await name.inputValue(), 'renamed')
    await deliveries.click()
    await dialog.getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
  }

  it('ask before the changes of a webhook are lost', () => askBefore(`/acme/-/webhooks/${given.webhook}`))

  it('ask before the changes of an automation are lost', () =>
    askBefore(`/acme/-/automations/${given.automation}`))

  it('do not ask after a form was saved', async () => {
    const page = await pages.open(`/acme/-/automations/${given.automation}`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('deployment')
    await page.getByRole('button', { name: 'Save the automation' }).click()
    await page.getByRole('heading', { name: 'deployment' }).waitFor()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('heading', { name: 'Webhooks' }).waitFor()
  })

  it('show what a saved automation sent, and search on for a new one', async () => {
    const searches: number[] = []
    const page = await pages.open('about:blank')
    // As if the first search of the log ended early.
    await page.route('**/api/automations/preview', async (route) => {
      const body = route.request().postDataJSON() as { search_ms: number }
      searches.push(body.search_ms)
      await route.continue({ postData: { ...body, search_ms: body.search_ms === 200 ? 0 : body.search_ms } })
    })
    await page.goto(`${pages.service.address}/acme/-/automations/${given.automation}`)
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('It fired 1 time in the last 7 days.').waitFor()
    await preview.getByText('Newest event that it fired for: CallEnded').waitFor()
    await preview.getByText(/call \S+ failed/).waitFor()
    assert.deepEqual(searches, [0])

    const calls = Array.from({ length: 150 }, () => ({}))
    await recordTrace(pages.service, 'acme/quiet', 'quiet', calls)
    const event = 'event=CALL_USAGE_THRESHOLD&measure=cost&comparison=$gt&threshold=1000000'
    await page.goto(`${pages.service.address}/acme/-/automations/new?project=quiet&${event}`)
    await preview.getByText('No match was found so far. Events are searched back to').waitFor()
    await preview.getByRole('button', { name: 'Search on' }).click()
    await preview.getByText('It would have fired 0 times in the last 7 days.').waitFor()
    assert.equal(searches.at(-1), 5000)
  })

  it('keep the way back to the project', async () => {
    const page = await pages.open(`/${PROJECT}/traces`)
    const rail = page.getByRole('navigation', { name: 'Pages' })
    await rail.getByRole('link', { name: /^Deliveries/ }).click()
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor()
    await rail.getByRole('link', { name: 'Traces' }).click()
    await page.getByText('answer_question').first().waitFor()
    assert.equal(new URL(page.url()).pathname, `/${PROJECT}/traces`)
  })

  it('can be reached from the account page, whether or not a project was open before', async () => {
    const page = await pages.open('/-/account')
    const rail = page.getByRole('navigation', { name: 'Pages' })
    await rail.getByRole('link', { name: /^Deliveries/ }).waitFor()
    await page.goto(`/${PROJECT}/traces`)
    await page.getByText('answer_question').first().waitFor()
    await page.goto('/-/account')
    await rail.getByRole('link', { name: 'Traces' }).click()
    await page.getByText('answer_question').first().waitFor()
    assert.equal(new URL(page.url()).pathname, `/${PROJECT}/traces`)
  })

  it('show a webhook as failed that accepted none of its messages', async () => {
    const page = await pages.open('/acme/-/webhooks')
    await page.getByText('none of 1 accepted').waitFor()
    await page.getByRole('navigation', { name: 'Pages' }).getByText('1 failed').first().waitFor()
  })

  it('say what to change after a refused message, and which call it was about', async () => {
    const page = await pages.open(`/acme/-/deliveries/${delivery}`)
    await page.getByText('The receiver refused the credentials. Check `access_token`').waitFor()
    await page.goto('/acme/-/deliveries')
    await page.getByRole('link', { name: /^call …/ }).click()
    await page.getByText('ValueError: no such version').first().waitFor()
  })

  it('act on all deliveries that are shown', async () => {
    const page = await pages.open('/acme/-/deliveries')
    const redrive = page.getByRole('button', { name: 'Redrive' })
    const cancel = page.getByRole('button', { name: 'Cancel' })
    await redrive.waitFor()
    assert.equal(await redrive.isDisabled(), true)
    await page.getByRole('checkbox', { name: 'Select all that are shown' }).check()
    await cancel.click()
    await page.getByText('1 done').waitFor()
  })

  it('say what to change after a message that could not be sent', async () => {
    const closed = await startReceiver(answers(200))
    await closed.stop()
    const { automation } = await givenWebhook(pages.service, closed.url, 'closed')
    await failCall(pages.service, PROJECT)
    const page = await pages.open(
      `/acme/-/deliveries/${encodeURIComponent(await deliveryOf(pages.service, automation))}`,
    )
    await page.getByText('Nothing accepts connections there. Check the host and the port of `url`').waitFor()
  })
})
