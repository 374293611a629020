import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { aStart } from '../support/call-requests.js'
import { accepted } from '../api/calls/given.js'
import { until } from '../support/until.js'
import { accessibilityProblems, describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { recordTrace, timeOf, type GivenCall } from './given.js'

const PROJECT = 'acme/detail'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describeInBrowser('a trace', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(1, 8)
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const record = (trace: string, calls: readonly GivenCall[]): Promise<void> =>
    recordTrace(pages.service, PROJECT, trace, calls)
  const open = async (trace: string, search = ''): Promise<Page> => {
    const page = await pages.open(`/${PROJECT}/traces/${trace}${search}`)
    await page.getByRole('treeitem').first().waitFor()
    return page
  }

  it('of 3,000 calls mounts only what is seen, and misses none', async () => {
    const calls = Array.from({ length: 3000 }, (_, n) => ({ start: { op_name: `step_${n}` } }))
    await record('long', calls)
    const page = await open('long')
    await page.getByText('3 000 calls').waitFor()
    assert.ok((await page.getByRole('treeitem').count()) <= 60)
    await page.getByRole('tree').focus()
    await page.keyboard.press('End')
    await page.waitForURL(/call=long-2999/)
    assert.ok((await page.getByRole('treeitem').count()) <= 60)
    await page.getByRole('treeitem', { selected: true }).waitFor()
    assert.equal(await page.getByRole('treeitem', { selected: true }).count(), 1)
  })

  it('folds many siblings of one op, but never the failed ones', async () => {
    const calls = Array.from({ length: 200 }, (_, n) => ({
      start: { op_name: n === 0 ? 'crawl' : 'read_page' },
      end: n === 150 ? { exception: 'TimeoutError' } : {},
    }))
    await record('folded', calls)
    const page = await open('folded')
    await page
      .getByText(/read_page × /)
      .first()
      .waitFor()
    await page.getByRole('tree').focus()
    await page.keyboard.press('e')
    await page.waitForURL(/call=folded-150/)
    await page.getByText('TimeoutError').waitFor()
    await page.keyboard.press('z')
    await page.waitForURL(/zoom=folded-150/)
    await page.keyboard.press('0')
    await page
      .getByText(/read_page × /)
      .first()
      .waitFor()
  })

  it('moves, closes and opens with arrow keys, and restores the call of a link', async () => {
    await record('keys', [{}, { start: { op_name: 'first' } }, { start: { op_name: 'second' } }])
    const page = await open('keys')
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.waitForURL(/call=keys-2/)
    await page.reload()
    await page.getByRole('heading', { name: 'second' }).waitFor()
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await until(async () => (await page.getByRole('treeitem').count()) === 1)
  })

  it('shows and copies all digits of numbers', async () => {
    const inputs = { id: 1 }
    await record('digits', [{ start: { inputs } }])
    const start = JSON.stringify(aStart(PROJECT, { id: 'exact', trace_id: 'exact', inputs: {} })).replace(
      '"inputs":{}',
      '"inputs":{"id":9007199254740993,"big":12345678901234567890}',
    )
    accepted(await pages.service.post('/call/start', `{"start":${start}}`))
    const page = await open('exact')
    await page.getByText('9007199254740993').waitFor()
    await page.getByText('12345678901234567890').waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('group', { name: 'Inputs' }).getByRole('button', { name: 'Copy JSON' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.deepEqual(
      (await copied(page)).replaceAll(/\s/g, ''),
      '{"id":9007199254740993,"big":12345678901234567890}',
    )
  })

  it('folds long text, and shows base64 as an image or its size', async () => {
    const image_url = { url: `data:image/png;base64,${PIXEL}` }
    await record('heavy', [
      {
        start: {
          inputs: {
            messages: [
              {
                role: 'user',
                content: [
                  { type: 'image_url', image_url },
                  { type: 'text', text: 'What is it?' },
                ],
              },
            ],
          },
        },
        end: { output: { long: 'word '.repeat(2000), data: 'QUJD'.repeat(400) } },
      },
    ])
    const page = await open('heavy')
    await page.getByAltText('Image of the message').waitFor()
    await page.getByRole('button', { name: /Show all 10.000 characters/ }).waitFor()
    await page.getByText('1 KB of base64').waitFor()
  })

  it('shows text as it is, and Markdown on demand, which is remembered', async () => {
    const content =
      'First line\nsecond line\n\n- **bold** item\n\n[link](javascript:alert(1))\n\n<script>alert(1)</script>'
    await record('markdown', [
      { end: { output: { choices: [{ message: { role: 'assistant', content } }] } } },
    ])
    const page = await open('markdown')
    await page.getByText('- **bold** item').waitFor()
    await page.getByRole('switch', { name: 'Markdown' }).click()
    await page.locator('.markdown strong').waitFor()
    assert.equal(await page.locator('.markdown br').count(), 1)
    assert.equal(await page.locator('.markdown a').getAttribute('href'), null)
    assert.equal(await page.locator('.markdown script').count(), 0)
    await page.reload()
    await page.locator('.markdown strong').waitFor()
  })

  it('has read the neighbours of the selected call before they are selected', async () => {
    await record('near', [{}, { end: { output: 'of the second' } }, { end: { output: 'of the third' } }])
    const page = await pages.open('about:blank')
    const read: string[] = []
    page.on('response', async (response) => {
      if (response.url().endsWith('/call/read')) read.push(response.request().postData()!)
    })
    await page.goto(`${pages.service.address}/${PROJECT}/traces/near`)
    await until(() => read.some((body) => body.includes('near-1')))
    const before = read.filter((body) => body.includes('near-1')).length
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowDown')
    await page.getByText('of the second').waitFor()
    assert.equal(read.filter((body) => body.includes('near-1')).length, before)
  })

  it('goes to the next sibling, and switches between messages and JSON, by keys', async () => {
    const output = { choices: [{ message: { role: 'assistant', content: 'Hello there' } }] }
    await record('siblings', [
      {},
      { start: { op_name: 'one' }, end: { output } },
      { start: { op_name: 'inside', parent_id: 'siblings-1' } },
      { start: { op_name: 'two' } },
    ])
    const page = await open('siblings', '?call=siblings-1')
    await page.getByText('Hello there').waitFor()
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Show as messages' }).waitFor()
    await page.keyboard.press('m')
    await page.getByRole('button', { name: 'Show as JSON' }).waitFor()
    await page.keyboard.press('s')
    await page.waitForURL(/call=siblings-3/)
    await page.keyboard.press('s')
    await page.waitForURL(/call=siblings-1/)
  })

  it('shows small costs with three digits, all digits on hovering, and where they come from', async () => {
    const summary = { usage: { 'gpt-4o-mini': { prompt_tokens: 7, completion_tokens: 2, requests: 1 } } }
    const unpriced = { usage: { 'our-own-model': { prompt_tokens: 100, requests: 1 } } }
    await record('costs', [
      {},
      { start: { op_name: 'ask' }, end: { summary } },
      { start: { op_name: 'ask_own' }, end: { summary: unpriced } },
    ])
    const page = await open('costs')
    await page.getByText('≥\u2009$0.00000225').first().waitFor()
    await page.getByTitle('$0.00000225', { exact: false }).first().waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByText('≥\u2009$0.00000225').first().dblclick()
    await page.keyboard.press('ControlOrMeta+c')
    assert.equal(await copied(page), '0.00000225')
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.getByRole('button', { name: 'Explain this total' }).click()
    const table = page.getByRole('table', { name: 'Contributions' })
    await table.getByText('$0.15').waitFor()
    await table.getByText('$0.60').waitFor()
    await table.getByText('price list').first().waitFor()
    await table.getByText('no price').waitFor()
  })

  it('shows a turn of an agent by the Responses API, and what of its prompt was cached', async () => {
    const inputs = {
      model: 'gpt-5',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Run it' }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'I think of ls.' }] },
        { type: 'function_call', call_id: 'c', name: 'exec_command', arguments: '{"cmd":"ls"}' },
        { type: 'function_call_output', call_id: 'c', output: 'README.md' },
      ],
      tools: [{ type: 'function', name: 'exec_command', description: 'Runs a command.' }],
    }
    const content = [{ type: 'output_text', text: 'There is a readme.' }]
    const output = { object: 'response', output: [{ type: 'message', role: 'assistant', content }] }
    const summary = {
      usage: { 'gpt-5': { prompt_tokens: 2100, completion_tokens: 30, cache_read_input_tokens: 1920 } },
    }
    await record('responses', [{ start: { inputs }, end: { output, summary } }])
    const page = await open('responses')
    const card = (role: string) =>
      page.locator('.message', { has: page.locator('header', { hasText: role }) })
    await card('user').getByText('Run it').waitFor()
    const [called, answered] = [card('assistant').first(), card('assistant').last()]
    await called.getByText('"cmd": "ls"').waitFor()
    assert.equal(await called.getByText('I think of ls.').isVisible(), false)
    await called.getByText('Reasoning').click()
    await called.getByText('I think of ls.').waitFor()
    await card('tool').getByText('README.md').waitFor()
    await answered.getByText('There is a readme.').waitFor()
    await page.getByText('1 tool: exec_command').waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.getByRole('cell', { name: '91 % from the cache' }).waitFor()
  })

  it("shows Anthropic's messages, and the number of vectors of embeddings", async () => {
    const result = { type: 'tool_result', tool_use_id: 'a', content: '7 degrees' }
    const messages = [{ role: 'user', content: [result, { type: 'text', text: 'And tomorrow?' }] }]
    const content = [
      { type: 'thinking', thinking: 'I think of rain.', signature: 's' },
      { type: 'tool_use', id: 'b', name: 'get_weather', input: { city: 'Paris' } },
    ]
    await record('messages', [
      { start: { inputs: { model: 'm', messages } }, end: { output: { role: 'assistant', content } } },
      {
        start: { op_name: 'openai.embeddings.create', inputs: { model: 'm', input: ['one', 'two'] } },
        end: { output: { object: 'list', data: [{ index: 0, dimensions: 1536 }] } },
      },
    ])
    const page = await open('messages')
    await page.locator('article', { hasText: 'tool' }).getByText('7 degrees').waitFor()
    await page.getByText('And tomorrow?').waitFor()
    await page.getByText('"city": "Paris"').waitFor()
    assert.equal(await page.getByText('I think of rain.').isVisible(), false)
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowDown')
    await page.getByText('1 vector of 1536 dimensions').waitFor()
    assert.equal(await page.locator('article', { hasText: 'input' }).count(), 2)
  })

  it('shows a conversation of very many items a page at a time', async () => {
    const inputs = {
      model: 'm',
      input: Array.from({ length: 5000 }, (_, n) => ({ role: 'user', content: `turn ${n}.` })),
    }
    const output = { output: Array.from({ length: 5000 }, (_, n) => ({ type: 'f_call', name: `f${n}.` })) }
    await record('many', [{ start: { inputs }, end: { output } }])
    const page = await open('many')
    await page.getByText('turn 199.').waitFor()
    assert.equal(await page.locator('article').count(), 201)
    await page
      .getByRole('button', { name: /Show 200 more of 5.000/ })
      .first()
      .click()
    await page.getByText('turn 399.').waitFor()
    assert.equal(await page.getByText('f200.').count(), 0)
  })

  it('takes feedback and shows it', async () => {
    await record('noted', [{}])
    const page = await open('noted')
    await page.getByRole('tab', { name: /Feedback/ }).click()
    await page.getByRole('textbox').fill('a <b>good</b> answer')
    await page.getByRole('button', { name: /note/i }).click()
    await page.getByText('a <b>good</b> answer').first().waitFor()
  })

  it('that is running offers what is new, and does not move by itself', async () => {
    await record('running', [{ end: null }, { start: { op_name: 'step_one' } }])
    const page = await open('running')
    await page.getByText('running for').waitFor()
    await page.waitForTimeout(2500)
    const start = aStart(PROJECT, {
      id: 'running-9',
      trace_id: 'running',
      parent_id: 'running-0',
      op_name: 'step_two',
      started_at: timeOf(9),
    })
    accepted(await pages.service.post('/call/start', { start }))
    const button = page.getByRole('button', { name: 'Show what is new' })
    await button.waitFor()
    assert.equal(await page.getByText('step_two').count(), 0)
    await button.click()
    await page.getByText('step_two').waitFor()
  })
})

const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')
