import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { record } from '../demo/record.js'
import { startService } from './support/child.js'
import { REFERENCE_MS, timeOfReference } from './support/reference-statement.js'
import { PROJECT } from './support/year-of-calls.js'

/**
 * How fast are the pages in Chromium (CHROMIUM_PATH), with CALLS=100000 calls in the project? Each figure is the median of
 * RUNS=5 new pages. DIRECTORY is one that `bench/questions.ts fill` filled before, which is kept. `after arrival` is the time from the last byte of the page's data until it is shown. A bare statement of the
 * engine tells how fast the machine is.
 */

const KEY = 'administrator-key-of-the-bench'
const CALLS = Number(process.env['CALLS'] ?? 100_000)
const RUNS = Number(process.env['RUNS'] ?? 5)
/** Apart from the list, whose figures would include them. */
const LARGE_TRACES = 'bench/large'
const TEN_THOUSAND = 'trace-of-ten-thousand'
const HUNDRED_THOUSAND = 'trace-of-a-hundred-thousand'
const TIMEOUT_MS = 60_000
const SETTLE_MS = 10_000

interface Shown {
  /** From the start of the navigation. */
  readonly navigation: number
  readonly sinceRequest: number
  readonly sinceArrival: number
  readonly bytes: number
  readonly rows: number
  /** For data. */
  readonly requests: number
}

const given = process.env['DIRECTORY']
const directory = given ?? (await mkdtemp(join(tmpdir(), 'tallytree-bench-web-')))
if (given === undefined) {
  const fill = [
    ...process.execArgv,
    'bench/questions.ts',
    'fill',
    directory,
    String(CALLS),
    String(Date.now()),
  ]
  execFileSync(process.execPath, fill, { stdio: 'inherit' })
}
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

/** The calls of a trace, all but the root its children by turns. */
const traceOf = (trace_id: string, size: number) =>
  Array.from({ length: size }, (_, n) => {
    const id = `${trace_id}-${n}`
    const at = (ms: number) => new Date(Date.now() - 3_600_000 + n * 20 + ms).toISOString()
    const parent_id = n === 0 ? null : `${trace_id}-${Math.floor((n - 1) / 10)}`
    const usage = { 'gpt-4o-mini': { requests: 1, prompt_tokens: 900 + n, completion_tokens: 60 } }
    return {
      start: {
        project_id: LARGE_TRACES,
        id,
        trace_id,
        parent_id,
        op_name: `step_${n % 12}`,
        started_at: at(0),
        attributes: {},
        inputs: { n },
      },
      end: { project_id: LARGE_TRACES, id, ended_at: at(15), output: 'done', summary: { usage } },
    }
  })

const large = (): object => {
  const start = traceOf('large', 1)[0]!
  return {
    ...start,
    end: {
      ...start.end,
      output: {
        rows: Array.from({ length: 45_000 }, (_, n) => ({
          n,
          text: `row ${n} of the output, with some text`,
        })),
      },
    },
  }
}

/** When the first element of a kind is shown, by the clock of the page. */
const watchFor = (context: BrowserContext, selector: string) =>
  context.addInitScript(`
    new MutationObserver((_, observer) => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => { globalThis.shownAt = performance.now() }))
    }).observe(document, { childList: true, subtree: true })`)

/** The policy of the pages does not allow Playwright's own polling of expressions. */
const untilShown = async (page: Page): Promise<void> => {
  const end = Date.now() + TIMEOUT_MS
  while ((await page.evaluate('globalThis.shownAt')) === undefined) {
    if (Date.now() > end) throw new Error(`${page.url()} showed nothing within ${TIMEOUT_MS} ms`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const shownIn = async (path: string, selector: string, endpoint: string): Promise<Shown> => {
  const context = await browser.newContext({
    baseURL: service.address,
    viewport: { width: 1440, height: 900 },
  })
  await context.request.post('/api/sessions', { data: { api_key: KEY } })
  await watchFor(context, selector)
  const page = await context.newPage()
  await page.goto(path)
  await untilShown(page)
  const shown = await page.evaluate<Shown>(`(() => {
    const all = performance.getEntriesByType('resource')
    const data = all.findLast(({ name }) => name.includes(${JSON.stringify(endpoint)}))
    const bytes = all
      .filter(({ name }) => name.includes('/assets/'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
    return {
      navigation: shownAt,
      sinceRequest: shownAt - data.startTime,
      sinceArrival: shownAt - data.responseEnd,
      bytes: ${JSON.stringify(endpoint)} === '/assets/' ? bytes : data.encodedBodySize,
      rows: document.querySelectorAll('[role=treeitem], tbody tr').length,
      requests: all.filter(({ name }) => /\\/api\\/pages\\/|\\/usage\\//.test(name)).length,
    }
  })()`)
  await context.close()
  return shown
}

/** The read models follow the calls that were filled in: a million take minutes. */
const untilReadable = async (): Promise<void> => {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ project_id: LARGE_TRACES, limit: 1 })
  while (
    (await fetch(`${service.address}/api/pages/calls`, { method: 'POST', headers, body })).status === 503
  )
    await new Promise((resolve) => setTimeout(resolve, 1000))
}

const NONE: Shown = { navigation: 0, sinceRequest: 0, sinceArrival: 0, bytes: 0, rows: 0, requests: 0 }

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

const measure = async (
  name: string,
  ask: () => Promise<Shown>,
  goals: Partial<Record<keyof Shown, number>>,
): Promise<void> => {
  const all: Shown[] = []
  for (let run = 0; run < RUNS; run += 1) all.push(await ask())
  const figures = Object.entries(goals).map(([figure, goal]) => {
    const value = median(all.map((shown) => shown[figure as keyof Shown]))
    const unit = UNITS[figure] ?? 'ms'
    const shown = figure === 'bytes' ? value / 1000 : value
    return `${LABELS[figure as keyof Shown]} ${shown.toFixed(0)} ${unit} (goal ${goal})`
  })
  console.log(`${name.padEnd(34)} ${figures.join(', ')}`)
}

const UNITS: Readonly<Record<string, string>> = { bytes: 'KB', rows: 'rows', requests: 'requests' }
const LABELS: Readonly<Record<keyof Shown, string>> = {
  navigation: 'shown after',
  sinceRequest: 'after it was asked for',
  sinceArrival: 'after arrival',
  bytes: 'size',
  rows: 'mounted',
  requests: 'with',
}

/** From the key to the heading of the next call, in the tree of a large trace. */
const selected = async (): Promise<Shown> => {
  const context = await browser.newContext({
    baseURL: service.address,
    viewport: { width: 1440, height: 900 },
  })
  await context.request.post('/api/sessions', { data: { api_key: KEY } })
  const page = await context.newPage()
  await page.goto(`/${LARGE_TRACES}/traces/${TEN_THOUSAND}`)
  await page.getByRole('heading', { name: 'step_0' }).first().waitFor()
  await page.getByRole('tree').focus()
  await page.evaluate(`
    document.addEventListener('keydown', () => { globalThis.pressedAt = performance.now() }, true)
    new MutationObserver((_, observer) => {
      if (document.querySelector('.trace-detail h2').textContent !== 'step_1') return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => { globalThis.shownAt = performance.now() }))
    }).observe(document, { childList: true, subtree: true, characterData: true })`)
  await page.keyboard.press('ArrowDown')
  await untilShown(page)
  const sinceRequest = await page.evaluate<number>('shownAt - pressedAt')
  await context.close()
  return { ...NONE, sinceRequest }
}

/** The time of an answer alone. */
const answered = async (path: string, body: object): Promise<Shown> => {
  const begin = performance.now()
  const response = await fetch(`${service.address}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: PROJECT, ...body }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return { ...NONE, sinceRequest: performance.now() - begin, bytes: text.length }
}

const FACETS = ['summary.weave.status', 'op_name', 'model', 'end_user', 'environment', 'thread_id']
const VALUES = { filter: { trace_roots_only: true }, fields: FACETS }
const USAGE_OF_A_YEAR = {
  start: new Date(Date.now() - 365 * 86_400_000).toISOString(),
  ...{ group_by: ['month', 'user'], include_costs: true, limit: 10_000 },
}

/** What only the figures of the overview bring. */
const OVERVIEW = '[aria-label=Models] tbody a'

const tree = (trace: string) => () =>
  shownIn(`/${LARGE_TRACES}/traces/${trace}`, '[role=treeitem]', '/api/pages/trace')

try {
  await record(service.address, KEY, traceOf(TEN_THOUSAND, 10_000))
  await record(service.address, KEY, traceOf(HUNDRED_THOUSAND, 100_000))
  await record(service.address, KEY, [large() as ReturnType<typeof traceOf>[number]])
  await untilReadable()
  console.log(`${CALLS} calls and two large traces`)
  await measure('first page, signed out', () => firstPage(), { bytes: 300, navigation: 1000 })
  await measure('trace of 10,000 calls', tree(TEN_THOUSAND), {
    sinceArrival: 150,
    sinceRequest: 400,
    rows: 60,
  })
  await measure('next call of 10,000 selected', selected, { sinceRequest: 50 })
  await measure('trace of 100,000 calls', tree(HUNDRED_THOUSAND), {
    sinceArrival: 300,
    sinceRequest: 1500,
    rows: 60,
  })
  await measure(
    'call with an output of 2.7 MB',
    () => shownIn(`/${LARGE_TRACES}/traces/large`, '.json-row .key', '/call/read'),
    { sinceRequest: 500 },
  )
  // Last: the read side works for a while on the traces that were just recorded.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  await measure('overview', () => shownIn(`/${PROJECT}`, OVERVIEW, '/api/pages/overview'), {
    sinceArrival: 500,
    sinceRequest: 1000,
    requests: 3,
  })
  await measure(
    'overview of a year',
    () => shownIn(`/${PROJECT}?range=365d`, OVERVIEW, '/api/pages/overview'),
    { sinceArrival: 500, sinceRequest: 2000 },
  )
  await measure('threads', () => shownIn(`/${PROJECT}/threads`, 'tbody td a', '/api/pages/threads'), {
    sinceRequest: 500,
  })
  await measure('usage explorer', () => shownIn(`/${PROJECT}/usage`, 'tbody td a', '/usage/query'), {
    sinceRequest: 500,
    requests: 2,
  })
  await measure('values of the list of traces', () => answered('/api/pages/calls/summary', VALUES), {
    sinceRequest: 200,
  })
  await measure('usage of a year by month and user', () => answered('/usage/query', USAGE_OF_A_YEAR), {
    sinceRequest: 600,
  })
  await measure('list of 50 traces', () => shownIn(`/${PROJECT}/traces`, 'tbody td a', '/api/pages/calls'), {
    bytes: 100,
    sinceRequest: 200,
  })
} finally {
  await browser.close()
  await service.stop()
  const year = new Date(Date.now() - 365 * 86_400_000).toISOString()
  const reference = await timeOfReference(directory, PROJECT, year, RUNS)
  console.log(
    `reference: a bare statement by day and op took ${reference.toFixed(0)} ms (${REFERENCE_MS} ms at 10,000,000 calls where the goals were set)`,
  )
  if (given === undefined) await rm(directory, { recursive: true, force: true })
}

async function firstPage(): Promise<Shown> {
  const context = await browser.newContext({ baseURL: service.address })
  await watchFor(context, 'input')
  const page: Page = await context.newPage()
  await page.goto('/')
  await untilShown(page)
  const [navigation, bytes] = await page.evaluate<[number, number]>(`[
    shownAt,
    performance.getEntriesByType('resource').reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  ]`)
  await context.close()
  return { ...NONE, navigation, bytes }
}
