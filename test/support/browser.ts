import { existsSync } from 'node:fs'
import assert from 'node:assert/strict'
import axe from 'axe-core'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { demoCalls } from '../../demo/records.js'
import { record } from '../../demo/record.js'
import { compiled } from './compiled.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from './service.js'

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'

/** A suite that needs Chromium; without it the title says why the suite is skipped. */
export const describeInBrowser = (title: string, suite: () => void): unknown =>
  existsSync(CHROMIUM)
    ? describe(title, suite)
    : describe.skip(`${title} (skipped: there is no Chromium at ${CHROMIUM}; set CHROMIUM_PATH)`, suite)

/** The project with the demo's calls. */
export const PROJECT = 'acme/support'

export interface Pages {
  readonly service: TestService
  /** Opens a page in a context of its own, signed in with the key, or signed out with null. */
  readonly open: (path: string, options?: PageOptions) => Promise<Page>
  /** Closes the pages and fails if one of them had a problem. */
  readonly close: () => Promise<void>
  readonly stop: () => Promise<void>
}

interface PageOptions extends BrowserContextOptions {
  readonly key?: string | null
  /** Refused requests that the page is meant to make, such as `404 GET /api/teams/other/projects`. */
  readonly expected?: readonly RegExp[]
}

/** The service with the built pages and the demo's calls, and Chromium. */
export const startPages = async (traces = 40, pages = 400): Promise<Pages> => {
  await compiled('main')
  const service = await startTestService({
    // Receivers of webhooks are on this machine.
    TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  })
  await record(service.address, ADMINISTRATOR_KEY, demoCalls(PROJECT, Date.now(), { traces, pages }))
  const browser = await launch()
  let problems: string[] = []
  const open = async (
    path: string,
    { key = ADMINISTRATOR_KEY, expected = [], ...options }: PageOptions = {},
  ) => {
    const context = await browser.newContext({
      baseURL: service.address,
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      ...options,
    })
    if (key !== null) {
      const signIn = await context.request.post('/api/sessions', { data: { api_key: key } })
      assert.equal(signIn.status(), 200)
    }
    const page = await context.newPage()
    page.setDefaultTimeout(TIMEOUT_MS)
    watch(page, service.address, expected, (problem) => problems.push(problem))
    await page.goto(path)
    return page
  }
  const close = async () => {
    const contexts = browser.contexts()
    for (const page of contexts.flatMap((context) => context.pages())) {
      const shift = await page.evaluate(() => (globalThis as unknown as { layoutShift: number }).layoutShift)
      if (shift >= MAX_SHIFT) problems.push(`${page.url()}: the layout shifted by ${shift.toFixed(3)}`)
    }
    await Promise.all(contexts.map((context) => context.close()))
    const found = problems
    problems = []
    assert.deepEqual(found, [])
  }
  const stop = async () => {
    await browser.close()
    await service.stop()
  }
  return { service, open, close, stop }
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  })

const MAX_SHIFT = 0.02
const TIMEOUT_MS = 30_000

/** Reports errors of the page, violations of its policy, requests to other hosts and unexpected refusals. */
const watch = (
  page: Page,
  address: string,
  expected: readonly RegExp[],
  report: (problem: string) => void,
): void => {
  page.on('pageerror', (error) => report(`${page.url()}: ${error.stack ?? error.message}`))
  page.on('console', (message) => {
    // Refused requests are told apart by their status below.
    if (message.text().startsWith('Failed to load resource')) return
    if (['error', 'warning'].includes(message.type())) report(`${page.url()}: ${message.text()}`)
  })
  page.on('request', (request) => {
    if (/^(data|blob):/.test(request.url()) || request.url().startsWith(`${address}/`)) return
    report(`${page.url()}: a request to ${request.url()}`)
  })
  page.on('response', (response) => {
    if (response.status() < 400) return
    const refused = `${response.status()} ${response.request().method()} ${response.url().slice(address.length)}`
    if (!expected.some((one) => one.test(refused))) report(`${page.url()}: ${refused}`)
  })
  void page.addInitScript(() => {
    const all = globalThis as unknown as { layoutShift: number }
    all.layoutShift = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[])
        if (!entry.hadRecentInput) all.layoutShift += entry.value
    }).observe({ type: 'layout-shift', buffered: true } as never)
  })
}

/** What axe-core finds serious or critical on the page in both themes, which differ in their colors alone. */
export const accessibilityProblems = async (page: Page): Promise<readonly string[]> => {
  // The strict policy blocks a script element.
  await page.evaluate(axe.source)
  const light = await violationsOf(page, {})
  await page.emulateMedia({ colorScheme: 'dark' })
  return [...light, ...(await violationsOf(page, { runOnly: ['color-contrast'] }))]
}

const violationsOf = async (page: Page, options: axe.RunOptions): Promise<readonly string[]> => {
  const { violations } = await page.evaluate(
    async (asked) => {
      const { axe } = globalThis as unknown as { axe: Pick<typeof import('axe-core'), 'run'> }
      return axe.run(asked)
    },
    { resultTypes: ['violations'], ...options } satisfies axe.RunOptions,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${String(target)} ${failureSummary}`),
    )
}
