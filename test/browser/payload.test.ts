import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { describeInBrowser, startPages, type Pages } from '../support/browser.js'
import { recordTrace, type GivenCall } from './given.js'

const PROJECT = 'acme/payload'

interface Styles {
  readonly getComputedStyle: (element: unknown) => { readonly direction: string }
}

describeInBrowser('the payload of a call', () => {
  let pages: Pages
  before(async () => {
    pages = await startPages(1, 8)
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const record = (trace: string, ...calls: readonly GivenCall[]): Promise<void> =>
    recordTrace(pages.service, PROJECT, trace, calls)
  const open = async (trace: string, search = ''): Promise<Page> => {
    const page = await pages.open(`/${PROJECT}/traces/${trace}${search}`)
    await page.getByRole('treeitem').first().waitFor()
    return page
  }
  const textOf = (page: Page, selector: string) => page.locator(selector).first().innerText()

  it('is never shown below the name of another call', async () => {
    await record(
      'slow',
      { end: { output: 'of the first' } },
      { start: { op_name: 'large' }, end: { output: 'the payload' } },
    )
    const page = await pages.open('about:blank')
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/call/read', async (route) => {
      if (route.request().postData()!.includes('slow-1')) await released
      await route.continue()
    })
    await page.goto(`${pages.service.address}/${PROJECT}/traces/slow`)
    await page.getByText('of the first').waitFor()
    await page.getByRole('tree').focus()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('heading', { name: 'large' }).waitFor()
    await page.getByText('Loading large …').waitFor()
    assert.equal(await page.getByText('of the first').count(), 0)
    release()
    await page.getByText('the payload').waitFor()
  })

  it('has every input of a completion, as messages, parameters and JSON', async () => {
    const inputs = {
      temperature: 0.2,
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hello' }],
      seed: 7,
      response_format: { type: 'json_schema', name: 'city' },
    }
    await record('inputs', { start: { inputs } })
    const page = await open('inputs')
    await page.getByText('Hello').waitFor()
    assert.equal(await textOf(page, '.parameters'), 'model gpt-4o · temperature 0.2 · seed 7')
    await page.getByRole('heading', { name: 'Other inputs' }).waitFor()
    await page.getByRole('group', { name: 'Other inputs' }).getByText('json_schema').waitFor()
  })

  it('colours the code of Markdown by its language', async () => {
    await record('code', { end: { output: '# Code\n\n```python\nreturn "a" # b\n```' } })
    const page = await open('code')
    await page.getByText('Markdown', { exact: true }).click()
    const code = page.locator('.code-block')
    await code.locator('[data-token=keyword]').getByText('return').waitFor()
    await code.locator('[data-token=string]').getByText('"a"').waitFor()
    await code.locator('[data-token=comment]').getByText('# b').waitFor()
    assert.equal(await code.locator('pre').innerText(), 'return "a" # b')
  })

  it('has values and paths in its JSON that are copied with the mouse and by keys', async () => {
    await record('copied', { end: { output: { list: [{ 'a.b': 'te"xt' }, 9007199254740993n.toString()] } } })
    const page = await open('copied')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const isCopied = (text: string) =>
      page.waitForFunction(
        `navigator.clipboard.readText().then((text) => text.replaceAll(/\\s/g, '') === ${JSON.stringify(text)})`,
      )
    const output = page.getByRole('group', { name: 'Output' })
    await output.getByText('"a.b"').click()
    const row = output.locator('.json-row').filter({ hasText: 'te"xt' }).last()
    await row.hover()
    await row.getByText('Copy value').click()
    await output.getByText('Value copied').waitFor()
    await isCopied('te"xt')
    await row.getByText('Copy path').click()
    await output.getByText('Path copied').waitFor()
    await isCopied('output.list.0.a\\.b')

    await output.getByRole('button', { expanded: true }).first().focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('C')
    await isCopied('output.list')
    await page.keyboard.press('ArrowLeft')
    assert.equal(await output.getByText('Copy value').count(), 2)
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('c')
    await isCopied('{"a.b":"te\\"xt"}')
  })

  it('names the tool call of each result', async () => {
    const call = (id: string, city: string) => ({
      id,
      type: 'function',
      function: { name: `weather_of_${city}`, arguments: '{}' },
    })
    const messages = [
      { role: 'user', content: 'Weather?' },
      { role: 'assistant', content: null, tool_calls: [call('call_1', 'paris'), call('call_2', 'rome')] },
      { role: 'tool', tool_call_id: 'call_2', content: '20 degrees' },
      { role: 'tool', tool_call_id: 'call_1', content: '7 degrees' },
    ]
    await record('tools', { start: { inputs: { model: 'm', messages } } })
    const page = await open('tools')
    const cardOf = (text: string) => page.locator('article', { hasText: text }).locator('header').innerText()
    await page.getByText('7 degrees').waitFor()
    assert.equal((await cardOf('7 degrees')).replaceAll(/\s+/g, ' '), 'tool weather_of_paris call_1')
    assert.equal((await cardOf('20 degrees')).replaceAll(/\s+/g, ' '), 'tool weather_of_rome call_2')
  })

  it('shows reasoning that is a part of a message as reasoning', async () => {
    const content = [
      { type: 'reasoning', text: 'I think of rain.' },
      { type: 'text', text: 'It rains.' },
    ]
    await record('reasoning', { end: { output: { role: 'assistant', content } } })
    const page = await open('reasoning')
    await page.getByText('It rains.').waitFor()
    assert.equal(await page.getByText('I think of rain.').isVisible(), false)
    await page.getByText('Reasoning', { exact: true }).click()
    await page.getByText('I think of rain.').waitFor()
  })

  it('labels what is not seen, in names, messages and JSON', async () => {
    const evil = 'a\u0000b\u202eevil\u202c'
    await record('marks', {
      start: {
        op_name: `op\u202e`,
        inputs: { messages: [{ role: 'user', content: evil }], ['k\u200b']: [evil] },
      },
    })
    const page = await open('marks')
    const labels = page.locator('article .control')
    await labels.first().waitFor()
    assert.deepEqual(await labels.allInnerTexts(), ['NUL', 'RLO', 'PDF'])
    assert.equal(await textOf(page, 'h1 .control'), 'RLO')
    const json = page.getByRole('group', { name: 'Other inputs' })
    assert.deepEqual(await json.locator('.control').allInnerTexts(), ['ZWSP', 'NUL', 'RLO', 'PDF'])
  })

  it('is aligned to the right where it is written from there', async () => {
    const text = 'مرحبا بالعالم!'
    await record('arabic', {
      start: {
        inputs: {
          messages: [
            { role: 'user', content: text },
            { role: 'user', content: 'Hello' },
          ],
        },
      },
      end: { output: text },
    })
    const page = await open('arabic')
    const directionOf = (of: string) =>
      page.getByText(of).evaluateAll((all) => {
        const { getComputedStyle } = globalThis as unknown as Styles
        return all.map((one) => getComputedStyle(one).direction)
      })
    await page.getByText('Hello').waitFor()
    assert.deepEqual(await directionOf(text), ['rtl', 'rtl'])
    assert.deepEqual(await directionOf('Hello'), ['ltr'])
  })

  it('reads a text as Markdown or JSON, which is remembered, and copies its code', async () => {
    await record('report', { end: { output: '# Report\n\n```js\nconst a = 1\n```\n' } })
    const page = await open('report')
    await page.getByText('# Report').waitFor()
    await page.getByText('Markdown', { exact: true }).click()
    await page.getByRole('heading', { name: 'Report' }).waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('.code-block').getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'const a = 1')
    await page.reload()
    await page.getByRole('heading', { name: 'Report' }).waitFor()
    await page.getByText('JSON', { exact: true }).click()
    await page.getByRole('group', { name: 'Output', exact: true }).waitFor()
  })

  it('explains its cost without scrolling sideways', async () => {
    const usage = (model: string) => ({
      summary: { usage: { [model]: { prompt_tokens: 1_234_567, completion_tokens: 765_432, requests: 12 } } },
    })
    await record(
      'cost',
      {},
      { start: { op_name: 'ask_a_model_for_an_answer_of_some_length' }, end: usage('gpt-4o-mini') },
      { start: { op_name: 'ask' }, end: usage('claude-sonnet-4-20250514-with-a-long-name') },
    )
    const page = await open('cost', '?tab=usage')
    await page.getByRole('button', { name: 'Explain this total' }).click()
    await page.getByRole('heading', { name: 'Counted' }).waitFor()
    for (const name of ['Usage by model', 'Contributions']) {
      const table = page.getByRole('table', { name })
      await table.waitFor()
      assert.equal(await table.getByRole('columnheader').first().innerText(), 'Cost')
      const [inside, whole] = await table.evaluate(({ parentElement: box }) => [
        box!.clientWidth,
        box!.scrollWidth,
      ])
      // Widths are rounded.
      assert.ok(Number(whole) <= Number(inside) + 1, `${name}: ${whole} in ${inside} px`)
    }
  })

  it('is printed whole, with the tree of its trace and without buttons', async () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      ...Array.from({ length: 60 }, (_, n) => ({ role: 'user', content: `Question ${n}.` })),
      { role: 'user', content: `${'word '.repeat(2000)}the end.` },
    ]
    const steps = Array.from({ length: 150 }, (_, n) => ({ start: { op_name: `step_${n}` } }))
    await record('printed', { start: { inputs: { messages } }, end: { output: 'The answer.' } }, ...steps)
    const page = await open('printed')
    await page.getByText('The answer.').waitFor()
    assert.equal(await page.getByText('Be brief.').last().isVisible(), false)
    await page.emulateMedia({ media: 'print' })
    await page.getByText('the end.').waitFor()
    await page.locator('details div', { hasText: 'Be brief.' }).first().waitFor()
    await page.getByText('step_149').waitFor()
    assert.equal(await page.locator('.mantine-Button-root').filter({ visible: true }).count(), 0)
    assert.equal(await page.getByRole('banner').isVisible(), false)
    const clipped = await page.evaluate(
      `[...document.querySelectorAll('main, .trace-detail, .tree')].filter((one) => one.scrollHeight > one.clientHeight + 1).map((one) => one.className)`,
    )
    assert.deepEqual(clipped, [])
    // On paper the layout is another one.
    await page.close()
  })
})
