import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { accepted } from '../api/calls/given.js'
import { describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { answers } from '../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../support/receivers/receiver.js'
import { deliveryOf, failCall, givenWebhook, type GivenWebhook } from './given.js'

const EVIL = '<img src=x onerror="window.wasRun=1"><script>window.wasRun=1</script>\u202e${7*7}{{7*7}}'

describeInBrowser('hostile strings', () => {
  let pages: Pages
  let receiver: Receiver
  let given: GivenWebhook
  let delivery: string
  let call: string
  before(async () => {
    receiver = await startReceiver(answers(500, { 'x-evil': '<b>bold</b>' }, EVIL))
    pages = await startPages(1, 8)
    const { service } = pages
    const payload = JSON.stringify({ text: EVIL.replace('${7*7}', '') })
    given = await givenWebhook(service, receiver.url, `hook ${EVIL}`.slice(0, 100), payload)
    const { calls } = service.in('acme/support')
    const started = await calls
      .start({
        op_name: `op ${EVIL}`,
        display_name: EVIL,
        inputs: { [EVIL]: EVIL, messages: [{ role: EVIL, content: EVIL }] },
        attributes: { user: EVIL },
        thread_id: EVIL,
      })
      .json()
    call = started.id
    const summary = { usage: { [EVIL]: { prompt_tokens: 1, requests: 1 } } }
    accepted(
      await calls.end(call, {
        output: { choices: [{ message: { content: EVIL } }] },
        summary,
        exception: EVIL,
      }),
    )
    const feedback = { note: EVIL }
    accepted(
      await service.post('/feedback/create', {
        project_id: 'acme/support',
        weave_ref: `weave:///acme/support/call/${call}`,
        feedback_type: 'wandb.note.1',
        payload: feedback,
      }),
    )
    await failCall(service, 'acme/support')
    delivery = await deliveryOf(service, given.automation)
  })
  after(async () => {
    await pages.stop()
    await receiver.stop()
  })
  afterEach(() => pages.close())

  const shows = async (page: Page, text: string) => {
    await page.getByText(text).first().waitFor()
    assert.equal(await page.evaluate('window.wasRun'), undefined)
    assert.equal(await page.locator('main img[src="x"]').count(), 0)
  }

  it('are text in the list and in the trace', async () => {
    const list = await pages.open('/acme/support/traces?cols=attributes.user,inputs.messages')
    await shows(list, '<img src=x')
    const trace = await pages.open(`/acme/support/calls/${call}`)
    await trace.waitForURL(/traces/)
    await shows(trace, '<img src=x')
    for (const tab of ['Usage', 'Feedback', 'Raw']) {
      await trace.getByRole('tab', { name: tab }).click()
      await shows(trace, '<img src=x')
    }
  })

  it('are text in every part of a conversation', async () => {
    const deep = `${'['.repeat(200)}${JSON.stringify(EVIL)}${']'.repeat(200)}`
    const item = {
      role: EVIL,
      name: EVIL,
      arguments: deep,
      output: { [EVIL]: EVIL },
      summary: [{ text: EVIL }],
    }
    const types = [
      'reasoning',
      'message',
      'function_call',
      'mcp_call',
      'image_generation_call',
      'x_call_output',
      EVIL,
    ]
    const blocks = [
      'thinking',
      'tool_use',
      'tool_result',
      'refusal',
      'image',
      'document',
      'input_file',
      EVIL,
    ].map((type) => ({
      type,
      thinking: EVIL,
      name: EVIL,
      title: EVIL,
      input: EVIL,
      source: { url: EVIL },
      content: EVIL,
    }))
    const inputs = {
      model: EVIL,
      system: [{ text: EVIL }],
      tools: [{ name: EVIL, description: EVIL }, null, EVIL],
      input: [
        ...types.map((type) => ({ ...item, type, role: undefined, result: EVIL })),
        ...blocks.map((block) => ({ role: EVIL, content: [block, null, 7, deep] })),
        { role: 'user', content: [{ type: 'image', source: { url: 'javascript:window.wasRun=1' } }] },
        EVIL,
        null,
      ],
    }
    const { id } = await pages.service
      .in('acme/support')
      .calls.start({ op_name: 'openai.responses.create', inputs })
      .json()
    const page = await pages.open(`/acme/support/calls/${id}`)
    await page.waitForURL(/traces/)
    await shows(page, '<img src=x')
    for (const summary of await page.locator('.trace-detail summary').all()) await summary.click()
    await shows(page, 'javascript:window.wasRun=1')
    assert.equal(await page.locator('a[href^="javascript"]').count(), 0)
  })

  it('are text in webhooks, automations, deliveries and settings', async () => {
    for (const path of [
      'webhooks',
      `webhooks/${given.webhook}`,
      'automations',
      `automations/${given.automation}`,
      'deliveries',
      'settings/secrets',
    ]) {
      const page = await pages.open(`/acme/-/${path}`)
      await shows(page, 'hook <img src=x')
      await page.context().close()
    }
    const page = await pages.open(`/acme/-/deliveries/${delivery}`)
    await page.getByText('Answer', { exact: true }).first().click()
    await shows(page, 'x-evil: <b>bold</b>')
    await shows(page, '<script>window.wasRun=1')
  })

  it('in the address do nothing', async () => {
    const evil = encodeURIComponent(EVIL)
    for (const path of [
      `/acme/support/traces?filter=${evil}&sort=${evil}&cols=${evil}&range=${evil}&q=${evil}&view=${evil}`,
      `/acme/support/traces?filter=${encodeURIComponent('{"$and":[{"$eq":[1,{"$x":2}]},5,null,{"$not":3}]}')}`,
      `/acme/support/traces/${evil}?call=${evil}&zoom=${evil}`,
      `/acme/support/threads?q=${evil}`,
      `/acme/support/compare?calls=${evil},${evil}2`,
      `/acme/support/threads/${evil}?turn=${evil}&density=${evil}`,
      `/acme/-/webhooks/${evil}`,
      `/acme/-/deliveries?state=${evil}&range=${evil}&webhook=${evil}`,
      `/${evil}/${evil}/traces`,
      `/acme/-/settings/${evil}`,
    ]) {
      const page = await pages.open(path, { expected: [/^4(04|22) /] })
      await page.getByRole('banner').waitFor()
      await page.waitForLoadState('networkidle')
      assert.equal(await page.evaluate('window.wasRun'), undefined, path)
      await page.locator('main').getByText(/\S/).first().waitFor()
      await page.context().close()
    }
  })
})
