import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { accepted } from '../api/calls/given.js'
import { evaluationsOf } from '../api/evaluations/requests.js'
import { logRun, scorerObject } from '../api/evaluations/logged-run.js'
import {
  accessibilityProblems,
  describeInBrowser,
  PROJECT,
  startPages,
  type Pages,
} from '../support/browser.js'

interface Compared {
  readonly scores: readonly {
    readonly means: readonly number[]
    readonly differences: readonly {
      readonly difference: number
      readonly wins: number
      readonly losses: number
      readonly ties: number
    }[]
  }[]
  readonly rows: readonly {
    readonly evaluations: readonly { readonly predict_and_score_call_id: string }[]
  }[]
}

const EVIL = '<img src=x onerror="window.wasRun=1">'
const ROWS = 60
const LONG_NAME = 'answer_relevancy_by_a_judge'

/** The names of columns that are not shown whole. */
const cutHeads = (page: Page): Promise<readonly (string | null)[]> =>
  page
    .locator('th, th span:not(.visually-hidden)')
    .evaluateAll((all) =>
      all
        .filter(({ scrollWidth, clientWidth }) => clientWidth > 0 && scrollWidth > clientWidth)
        .map(({ textContent }) => textContent),
    )

interface Figures {
  readonly rows: readonly (JsonObject & {
    readonly id: string
    readonly rows: number
    readonly means: readonly { readonly scorer: string; readonly value: number }[]
  })[]
}

describeInBrowser('the pages of evaluations', () => {
  let pages: Pages
  let runs: readonly string[]
  before(async () => {
    pages = await startPages(1, 8)
    const { service } = pages
    const evaluations = evaluationsOf(service, PROJECT)
    const { objects } = service.in(PROJECT)
    const dataset = await objects.publish('questions', { _type: 'Dataset', _class_name: 'Dataset' })
    const evaluation = await objects.publish('quality', { _type: 'Evaluation', name: EVIL, dataset })
    const ids: string[] = []
    for (const worse of [0, 7]) {
      const model = await objects.publish(`model-${worse}`, { _type: 'Model' })
      const run = await evaluations.startRun({ evaluation, model })
      await Promise.all(
        Array.from({ length: ROWS }, async (_, q) => {
          const inputs = { question: `${EVIL} question ${q}`, expected: `answer ${q}` }
          const prediction = await evaluations.predict(run, inputs, `answer ${q} of ${worse} ${EVIL}`)
          if (q === 0) await evaluations.score(prediction, LONG_NAME, true)
          await evaluations.score(prediction, 'exact', q % 10 !== 9 && q % 10 !== worse)
          await evaluations.score(prediction, 'judge', { points: (q % 5) - (q === 12 ? worse : 0) })
        }),
      )
      await evaluations.post(`evaluation_runs/${run}/finish`, {})
      ids.push(run)
    }
    runs = ids
    await objects.publish('exact-match', scorerObject('ExactMatchScorer'))
  })
  after(() => pages.stop())
  afterEach(() => pages.close())

  const figures = async () =>
    accepted(
      await pages.service.post('/api/pages/evaluations', { project_id: PROJECT }),
    ) as unknown as Figures

  it('list the runs with the figures of the API', async () => {
    const page = await pages.open(`/${PROJECT}`)
    await page.getByRole('link', { name: 'Evaluations' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('e')
    await page.waitForURL(/\/evaluations$/)
    const { rows } = await figures()
    await page.locator(`#run-${rows[0]!.id}`).waitFor()
    assert.match(await page.title(), /^Evaluations · acme\/support/)
    for (const { id, means, rows: count } of rows) {
      const row = page.locator(`#run-${id}`)
      await row.waitFor()
      const cells = await row.getByRole('cell').allInnerTexts()
      assert.equal(cells[4], String(count))
      const exact = means.find(({ scorer }) => scorer === 'exact')!.value
      const points = means.find(({ scorer }) => scorer === 'judge')!.value
      assert.ok(cells.includes(`${Number((100 * exact).toFixed(1))}\u2009%`), cells.join())
      assert.ok(cells.includes(String(Number(points.toPrecision(5)))), cells.join())
    }
    assert.equal(await page.evaluate('window.wasRun'), undefined)
    const box = page.locator('.scroll')
    const widths = await box.evaluate(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])
    assert.equal(widths[0], widths[1])
    assert.deepEqual(await cutHeads(page), [])
  })

  it('open a run, filter its rows, and lead to the trace of a row by keys', async () => {
    const page = await pages.open(`/${PROJECT}/evaluations`)
    await page.locator(`#run-${runs[1]}`).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/evaluations/${runs[1]}$`))
    await page.getByRole('table', { name: 'Rows of the run' }).waitFor()
    await page.getByText(`${ROWS} rows`).last().waitFor()
    await page.getByRole('combobox', { name: 'Score' }).click()
    await page.getByRole('option', { name: 'exact' }).click()
    await page.getByRole('combobox', { name: 'Condition' }).click()
    await page.getByRole('option', { name: 'failed', exact: true }).click()
    const failed = Array.from({ length: ROWS }, (_, q) => q).filter((q) => q % 10 === 9 || q % 10 === 7)
    await page.getByText(`${failed.length} rows`, { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('h1').click()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'The row' })
    await panel.getByText('Output').first().waitFor()
    await panel.getByRole('link', { name: 'Open its trace' }).click()
    await page.waitForURL(new RegExp(`/traces/${runs[1]}`))
    assert.equal(await page.evaluate('window.wasRun'), undefined)
  })

  it('filter their rows by a number, and sort by a score', async () => {
    const score = encodeURIComponent(JSON.stringify(['judge', 'points']))
    const page = await pages.open(`/${PROJECT}/evaluations/${runs[1]}?score=${score}&only=lt:0`)
    await page.getByText('1 row', { exact: true }).waitFor()
    await page.getByRole('cell', { name: '−5', exact: true }).waitFor()
    const sorted = await pages.open(`/${PROJECT}/evaluations/${runs[1]}`)
    await sorted.getByRole('button', { name: 'judge.points' }).click()
    const table = sorted.getByRole('table', { name: 'Rows of the run' })
    await table.locator('tbody tr').first().getByText('−5').waitFor()
  })

  const compared = async () =>
    accepted(
      await pages.service.post('/evaluations/compare', { project_id: PROJECT, evaluation_run_ids: runs }),
    ) as unknown as Compared

  it('lead from the list to the worst regression and to its own trace by clicks', async () => {
    const page = await pages.open(`/${PROJECT}/evaluations`)
    // The newest run is first in the list; the baseline is the one that is chosen first.
    for (const id of runs) await page.locator(`#run-${id}`).getByRole('checkbox').check()
    await page.getByRole('link', { name: 'Compare 2 runs' }).click()
    await page.waitForURL(/\/evaluations\/compare\?runs=/)
    const answer = await compared()
    const rows = page.getByRole('table', { name: 'Compared rows' })
    await rows.getByText('question 7').waitFor()
    assert.deepEqual(await cutHeads(page), [])
    const [worst] = answer.rows
    const first = rows
      .locator('tbody tr')
      .filter({ has: page.getByRole('button') })
      .first()
    assert.match(await first.getByRole('button').innerText(), /question 7/)
    const cells = await first
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
    assert.deepEqual(
      cells,
      worst!.evaluations.map((trial) => `/${PROJECT}/calls/${trial.predict_and_score_call_id}`),
    )
    await first.getByRole('button').click()
    await page.getByRole('region', { name: 'Output of B' }).locator('ins').first().waitFor()
    await first.getByRole('link').nth(1).click()
    await page.waitForURL(
      new RegExp(`/traces/${runs[1]}.*call=${worst!.evaluations[1]!.predict_and_score_call_id}`),
    )
    assert.equal(await page.evaluate('window.wasRun'), undefined)
  })

  it('lead from the list to the worst regression and to its own trace by keys', async () => {
    const page = await pages.open(`/${PROJECT}/evaluations`)
    await page.locator(`#run-${runs[0]}`).waitFor()
    const { rows: listed } = await figures()
    const places = runs.map((id) => listed.findIndex((run) => run.id === id))
    for (let at = 0; at <= places[0]!; at++) await page.keyboard.press('j')
    await page.keyboard.press('x')
    for (let at = places[0]!; at > places[1]!; at--) await page.keyboard.press('k')
    await page.keyboard.press('x')
    await page.keyboard.press('c')
    await page.waitForURL(/\/evaluations\/compare\?runs=/)
    await page.getByRole('table', { name: 'Compared rows' }).getByText('question 7').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Output of B' }).waitFor()
    await page.keyboard.press('2')
    await page.waitForURL(new RegExp(`/traces/${runs[1]}`))
  })

  it('compare runs with the figures of the API', async () => {
    const page = await pages.open(`/${PROJECT}/evaluations/compare?runs=${runs.join()}`)
    const { scores } = await compared()
    const table = page.getByRole('table', { name: 'Compared scores' })
    await table.waitFor()
    const figures = await table
      .locator('tbody tr:not(.group)')
      .evaluateAll((rows) =>
        rows.map((row) =>
          [...row.querySelectorAll('td')].map(
            (cell) => [cell.textContent, cell.getAttribute('title')] as const,
          ),
        ),
      )
    const expected = scores.flatMap(({ means, differences: [one] }) => [
      [String(means[0]), '', '', '', ''],
      [String(means[1]), String(one!.difference), ...[one!.wins, one!.losses, one!.ties].map(String)],
    ])
    assert.deepEqual(
      figures.map((cells) => [cells[1]![1], cells[2]![1], ...cells.slice(4).map(([text]) => text)]),
      expected,
    )
    await page.getByText(/^Regressions 7$/).waitFor()
    await page.getByText(/^Improvements 6$/).click()
    await page.waitForURL(/only=improvements/)
    await page.getByText(`All ${ROWS}`).click()
    await page.getByRole('table', { name: 'Compared rows' }).getByText('question 12').waitFor()
    await page.getByRole('checkbox', { name: 'A lower judge.points is better' }).check()
    await page.getByText(/^Regressions 6$/).waitFor()
    await page.getByText(/^Improvements 7$/).waitFor()
    assert.ok((await page.locator('tbody tr').count()) < 100)
  })

  it('rescore a run with live progress', async () => {
    const { id } = await logRun(pages.service, PROJECT, [
      { example: { q: 1, target: 'a' }, output: 'a' },
      { example: { q: 2, target: 'b' }, output: 'c' },
    ])
    const page = await pages.open(`/${PROJECT}/evaluations/${id}`)
    await page.getByRole('button', { name: 'Rescore' }).click()
    await page.getByRole('checkbox', { name: 'exact-match' }).check()
    await page.keyboard.press('Escape')
    const question = page.getByRole('dialog', { name: 'Close without saving?' })
    await question.getByRole('button', { name: 'Stay' }).click()
    await question.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('dialog').getByText('completed').waitFor()
    await page.getByRole('link', { name: 'Open the new run' }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByRole('table', { name: 'Scores' }).getByText('exact-match').waitFor()
  })

  it('show a leaderboard, whose cells lead to their runs', async () => {
    const { evaluation } = accepted(
      await pages.service.send('GET', `/v2/${PROJECT}/evaluation_runs/${runs[0]}`),
    ) as unknown as { evaluation: string }
    const columns = [
      { evaluation_object_ref: evaluation, scorer_name: 'exact', summary_metric_path: 'true_fraction' },
      { evaluation_object_ref: 'nothing', scorer_name: 'x', summary_metric_path: 'mean' },
    ]
    await pages.service
      .in(PROJECT)
      .objects.publish('board', {
        _type: 'Leaderboard',
        _class_name: 'Leaderboard',
        _bases: ['BaseObject', 'BaseModel'],
        ...{ name: `Best ${EVIL}`, description: 'of all', columns },
      })
    const page = await pages.open(`/${PROJECT}/evaluations`)
    await page.getByRole('link', { name: 'Leaderboards' }).click()
    await page.getByRole('link', { name: 'board' }).click()
    await page.getByText('Column 2 is not valid').waitFor()
    const best = (await figures()).rows.find(({ id }) => id === runs[0])!
    const fraction = best.means.find(({ scorer }) => scorer === 'exact')!.value
    const row = page.getByRole('table', { name: 'Models' }).locator('tr', { hasText: 'model-0' })
    await row.getByText(`${Number((100 * fraction).toFixed(1))}\u2009%`).waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
    await row.getByRole('link').click()
    await page.waitForURL(new RegExp(`/evaluations/${runs[0]}$`))
    assert.equal(await page.evaluate('window.wasRun'), undefined)
  })

  it('make, change, switch off and delete an evaluation rule', async () => {
    const page = await pages.open(`/${PROJECT}/evaluations`)
    await page.getByRole('link', { name: 'Rules' }).click()
    await page.getByText('No rules in acme/support yet').waitFor()
    await page.getByRole('button', { name: 'New rule' }).click()
    const form = page.getByRole('dialog')
    await form.getByRole('textbox', { name: 'Name' }).fill(EVIL)
    await form.getByRole('textbox', { name: 'Ops' }).fill('answer_question, read_page')
    await form.getByRole('textbox', { name: 'Calls to score' }).fill('12.5')
    await form.getByRole('checkbox', { name: 'exact-match' }).check()
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: 'answer_question, read_page' }).waitFor()
    const rules = async () => {
      const { data } = accepted(await pages.service.send('GET', `/api/evaluation-rules/${PROJECT}`))
      return data as unknown as readonly JsonObject[]
    }
    const [rule] = await rules()
    assert.deepEqual([rule!['name'], rule!['sample_rate'], rule!['enabled']], [EVIL, 0.125, true])
    assert.deepEqual(await accessibilityProblems(page), [])
    await page.getByRole('button', { name: /^Edit/ }).click()
    await form.getByRole('checkbox', { name: 'Only roots of traces' }).check()
    await form.getByText('A further condition').click()
    const condition = form.getByRole('textbox', { name: 'Condition' })
    await condition.fill('{"$expr": ')
    await form.getByText('This is not JSON').waitFor()
    const query = { $expr: { $eq: [{ $getField: 'exception' }, { $literal: null }] } }
    await condition.fill(JSON.stringify(query))
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('roots of traces · that meet a condition').waitFor()
    assert.deepEqual((await rules())[0]!['filter'], {
      op_names: ['answer_question', 'read_page'],
      trace_roots_only: true,
      query,
    })
    await page.getByRole('button', { name: /^Edit/ }).click()
    await condition.fill('')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('that meet a condition').waitFor({ state: 'detached' })
    await page.getByRole('switch').click()
    await page.getByText('off', { exact: true }).waitFor()
    const [changed] = await rules()
    assert.deepEqual([changed!['sample_rate'], changed!['enabled']], [0.125, false])
    await page.getByRole('button', { name: /^Delete/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No rules in acme/support yet').waitFor()
    assert.equal(await page.evaluate('window.wasRun'), undefined)
  })

  for (const [what, path, text] of [
    ['the list', '', 'model-7'],
    ['a run', '/{run}', 'Rows'],
    ['a comparison', '/compare?runs={run},{other}', 'question 7'],
  ] as const)
    it(`${what} is accessible in both themes, and fits a screen of 390 pixels`, async () => {
      const page = await pages.open(
        `/${PROJECT}/evaluations${path.replace('{run}', runs[0]!).replace('{other}', runs[1]!)}`,
      )
      await page.getByText(text).first().waitFor()
      await page.getByRole('table').last().waitFor()
      assert.deepEqual(await accessibilityProblems(page), [])
      await page.setViewportSize({ width: 390, height: 800 })
      await page.getByRole('button', { name: 'Menu' }).waitFor()
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
    })

  it('explain what an evaluation is where there is none', async () => {
    const page = await pages.open('/acme/none/evaluations')
    await page.getByText('No evaluations in acme/none yet').waitFor()
    assert.deepEqual(await accessibilityProblems(page), [])
  })
})
