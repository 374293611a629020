import assert from 'node:assert/strict'
import { demoGateway, startModels } from '../../demo/gateway.js'
import {
  accessibilityProblems,
  describeInBrowser,
  PROJECT,
  startPages,
  type Pages,
} from '../support/browser.js'
import { answers } from '../support/receivers/behaviours.js'
import { startReceiver, type Receiver } from '../support/receivers/receiver.js'
import { accepted } from '../api/calls/given.js'
import { deliveryOf, failCall, givenWebhook, keyOfMember, logRun, recordThread } from './given.js'

/** Each page, and a text that it shows when it is complete. `{…}` are ids. */
const PAGES: readonly (readonly [path: string, text: string])[] = [
  ['/', 'acme / support'],
  [`/${PROJECT}`, 'ValueError: no such version'],
  [`/${PROJECT}?chart=cost`, 'ValueError: no such version'],
  [`/${PROJECT}/usage`, 'our-own-model'],
  ['/acme/-/gateway/spend', 'support · gpt-4o-mini'],
  [`/${PROJECT}/traces`, 'answer_question'],
  [`/${PROJECT}/traces/{trace}`, 'index_documentation'],
  [`/${PROJECT}/traces/{trace}?call={failed}`, 'TimeoutError'],
  ['/-/account', 'Begins with'],
  [`/${PROJECT}/weave/objects/prompt/versions/latest`, 'Be brief.'],
  [`/${PROJECT}/threads`, 'Where is my order?'],
  [`/${PROJECT}/threads?q=nothing-like-it`, 'No thread matches'],
  [`/${PROJECT}/threads/a-thread`, 'On its way.'],
  [`/${PROJECT}/threads/a-thread?density=details&turn=turn-2`, 'timeout'],
  ['/acme/empty/threads', 'No threads yet'],
  [`/${PROJECT}/history`, 'object published'],
  [`/${PROJECT}/history?object=prompt&event={published}`, 'Be brief.'],
  ['/acme/empty/history', 'No changes in acme/empty yet'],
  [`/${PROJECT}/traces?as_of={published}`, 'As of position'],
  [`/${PROJECT}/compare?calls=turn-1,turn-2&all=1`, 'On its way.'],
  [`/${PROJECT}/compare`, 'Two calls are compared'],
  [`/${PROJECT}/traces/turn-1?call=turn-1&diff=turn-2`, 'On its way.'],
  [`/${PROJECT}/weave/ops/answer/versions/latest`, 'return 42'],
  [`/${PROJECT}/weave/leaderboards/best`, 'Best answers'],
  [`/${PROJECT}/evaluations`, 'No evaluations in acme/support yet'],
  [`/${PROJECT}/evaluations/compare?runs=`, 'Choose 2 to 8 runs'],
  [`/${PROJECT}/runs?columns=config.lr,summary.loss`, 'first run'],
  [`/${PROJECT}/runs/first`, 'epoch 1 done'],
  ['/acme/empty/runs', 'No runs in acme/empty yet'],
  [`/${PROJECT}/training`, 'No models in acme/support yet'],
  ['/acme/-/webhooks', 'deploy'],
  ['/acme/-/webhooks/new', 'Test webhook'],
  ['/acme/-/webhooks/{webhook}', 'Failing since'],
  ['/acme/-/automations', 'A call fails'],
  ['/acme/-/automations/new', 'Alias regex'],
  ['/acme/-/automations/{automation}', 'Newest event that it fired for'],
  ['/acme/-/automations/{automation}?tab=history', 'CALL_FAILED'],
  ['/acme/-/deliveries', 'CALL_FAILED'],
  ['/acme/-/deliveries/{delivery}', 'The automation fired.'],
  ['/acme/-/gateway', 'acme/assistant'],
  ['/acme/-/gateway/upstreams', 'our servers'],
  ['/acme/-/gateway/upstreams/new', 'Test upstream'],
  ['/acme/-/gateway/limits', 'project support'],
  ['/acme/-/gateway/keys', 'mira'],
  ['/acme/-/settings', 'mira'],
  ['/acme/-/settings/secrets', 'SIGNING_KEY'],
  ['/acme/-/settings/projects', 'Object versions'],
  ['/acme/-/settings/prices', 'price list of the service'],
  ['/no/such/page/here', 'Page not found'],
]

/** Addresses that lead to one of these pages. */
const LINKS: typeof PAGES = [
  [`/${PROJECT}/r/call/{failed}`, 'TimeoutError'],
  [`/${PROJECT}/weave/calls/{failed}`, 'TimeoutError'],
  [`/${PROJECT}/weave`, 'answer_question'],
  [`/${PROJECT}/weave/traces`, 'answer_question'],
  [`/${PROJECT}/weave/agents/conversations/a-thread`, 'On its way.'],
]

describeInBrowser('every page', () => {
  let pages: Pages
  let receiver: Receiver
  let models: Awaited<ReturnType<typeof startModels>>
  const ids: Record<string, string> = {}
  before(async () => {
    receiver = await startReceiver(answers(500, {}, 'out of order'))
    models = await startModels()
    pages = await startPages()
    const { service } = pages
    Object.assign(ids, await givenWebhook(service, receiver.url))
    await failCall(service, PROJECT)
    await recordThread(service, PROJECT, 'a-thread', [
      { start: { inputs: { question: 'Where is my order?' } }, end: { output: 'On its way.' } },
      { end: { exception: 'timeout' } },
    ])
    await logRun(service, PROJECT, 'first')
    ids['delivery'] = await deliveryOf(service, ids['automation']!)
    await keyOfMember(service, 'mira')
    const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
      accepted(await service.send(method, path, body, { headers }))
    await demoGateway(PROJECT, models.url, send, 1)
    for (const [object_id, val] of [
      ['prompt', { text: 'Be brief.' }],
      ['answer', { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, code: 'return 42' }],
      ['best', { _type: 'Leaderboard', name: 'Best answers', columns: [] }],
    ] as const)
      accepted(await service.post('/obj/create', { obj: { project_id: PROJECT, object_id, val } }))
    const { calls } = await service
      .in(PROJECT)
      .calls.query({ filter: { op_names: ['read_page'] }, query: FAILED, limit: 1 })
      .json()
    const events = await service.send(
      'GET',
      `/api/events?order=desc&project_id=${PROJECT}&object=prompt&limit=1`,
    )
    ids['published'] = (JSON.parse(events.text) as { position: string }).position
    ids['failed'] = calls[0]!['id'] as string
    ids['trace'] = calls[0]!['trace_id'] as string
  })
  after(async () => {
    await pages.stop()
    await receiver.stop()
    models.server.close()
  })
  afterEach(() => pages.close())

  /** By title, the page that has it. */
  const titles = new Map<string, string>()
  const open = (path: string) => pages.open(path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name]!))

  it('is accessible in both themes when signed out', async () => {
    const page = await pages.open('/', { key: null })
    await page.getByRole('textbox', { name: 'API key' }).waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
  })

  for (const [path, text] of PAGES)
    it(`${path} is accessible in both themes, and fits a screen of 390 pixels`, async () => {
      const page = await open(path)
      await page.getByText(text).first().waitFor()
      assert.deepEqual(await page.evaluate(cutCells), [])
      const title = await page.title()
      assert.match(title, /. · Tallytree$/)
      assert.notEqual(title, `${PROJECT} · Tallytree`)
      assert.equal(titles.get(title) ?? path.split('?')[0], path.split('?')[0], title)
      titles.set(title, path.split('?')[0]!)
      assert.deepEqual(await accessibilityProblems(page), [])
      await page.setViewportSize({ width: 390, height: 800 })
      await page.getByRole('button', { name: 'Menu' }).waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    })

  for (const [path, text] of LINKS)
    it(`opens from ${path}`, async () => {
      await (await open(path)).getByText(text).first().waitFor()
    })
})

const FAILED = { $expr: { $not: [{ $eq: [{ $getField: 'exception' }, { $literal: null }] }] } }

/** The tables that are wider than their box, and the cells with buttons and last columns that are cut. */
const cutCells = `[...document.querySelectorAll('main .table')].flatMap((table) => [
  ...(table.parentElement.scrollWidth > table.parentElement.clientWidth
    ? [table.getAttribute('aria-label') + ' is wider than its box']
    : []),
  ...[...table.querySelectorAll('td:has(button)')]
    .filter((cell) => cell.scrollWidth > cell.clientWidth)
    .map((cell) => table.getAttribute('aria-label') + ': ' + cell.textContent + ' is cut'),
])`
