import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { fill, sender } from './fill.js'
import { startModels } from './gateway.js'
import { record } from './record.js'
import { demoCalls } from './records.js'
import { startService } from './service.js'

/**
 * `npm run screenshots`: the pictures of the README, of a service of its own with the demo's calls, in Chromium (CHROMIUM_PATH).
 * With ALL=1 every page in both themes and at three widths, into a directory that is printed; PAGES=webhooks,account takes only these.
 */

const TEAM = 'acme'
const PROJECT = `${TEAM}/support`

const directory = await mkdtemp(join(tmpdir(), 'tallytree-screenshots-'))
const key = `demo-${randomBytes(24).toString('hex')}`
const receiver = createServer((request, response) => {
  request.resume()
  response.statusCode = request.url === '/chat' ? 503 : 200
  response.end(request.url === '/chat' ? 'The chat is being updated.' : 'thank you')
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const service = await startService(join(directory, 'data'), key, {
  TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  TALLYTREE_UPSTREAM_ALLOW_CIDRS: '127.0.0.0/8',
})
const models = await startModels()
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})

const send = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${service.address}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as {
    id: string
    data: readonly { id: string; name?: string }[]
    calls: readonly Call[]
  }
}

interface Call {
  readonly id: string
  readonly trace_id: string
}

const givenWebhooks = async () => {
  const { port } = receiver.address() as AddressInfo
  await send('POST', '/api/teams', { name: TEAM })
  await send('PUT', `/api/teams/${TEAM}/secrets/SIGNING_KEY`, { value: key })
  const hook = (name: string, path: string) =>
    send('POST', `/api/teams/${TEAM}/webhooks`, {
      name,
      url: `http://127.0.0.1:${port}/${path}`,
      secret: 'SIGNING_KEY',
      retry_waits_s: [1, 600],
    })
  const on = (name: string, webhook: string, type: string, payload: string) =>
    send('POST', '/api/automations', {
      team: TEAM,
      name,
      webhook,
      payload,
      scope: { type: 'project', project: 'support' },
      event: type === 'CALL_FAILED' ? { type } : { type, alias_pattern: '^production$' },
    })
  const deploy = await hook('deploy', 'deploy')
  const chat = await hook('on-call chat', 'chat')
  await on('tell the chat of failures', chat.id, 'CALL_FAILED', '{"text": "A call failed: ${call_id}"}')
  await on(
    'open an incident',
    deploy.id,
    'CALL_FAILED',
    '{"incident": {"call": "${call_id}", "project": "${project_name}"}}',
  )
  await on(
    'deploy to production',
    deploy.id,
    'ADD_ARTIFACT_ALIAS',
    '{"version": "${artifact_version_string}"}',
  )
}

const open = async (path: string, text: string, width: number, theme: 'light' | 'dark'): Promise<Page> => {
  const context = await browser.newContext({
    baseURL: service.address,
    viewport: { width, height: width < 500 ? 844 : 900 },
    colorScheme: theme,
    timezoneId: 'Europe/Berlin',
  })
  await context.request.post('/api/sessions', { data: { api_key: key } })
  const page = await context.newPage()
  await page.goto(path)
  await page.getByText(text).filter({ visible: true }).first().waitFor()
  await page.waitForLoadState('networkidle')
  return page
}

try {
  await givenWebhooks()
  await fill({ address: service.address, key, send: sender(service.address, key) }, PROJECT, models.url)
  // The newest event that an automation matches.
  await record(service.address, key, demoCalls(PROJECT, Date.now(), { traces: 6, pages: 12 }))
  const find = async (op: string, filter: object = {}) => {
    const query = { project_id: PROJECT, filter: { op_names: [op], ...filter }, limit: 3 }
    const { calls } = await send('POST', '/calls/query', {
      ...query,
      sort_by: [{ field: 'started_at', direction: 'desc' }],
    })
    return calls
  }
  const [, , answer] = await find('answer_question')
  const [chat] = await find('openai.chat.completions.create', { trace_ids: [answer!.trace_id] })
  const first = async (path: string, name?: string) =>
    (await send('GET', path)).data.find((one) => name === undefined || one.name === name)!.id
  const webhook = await first(`/api/teams/${TEAM}/webhooks`, 'on-call chat')
  const automation = await first(`/api/automations?team=${TEAM}`, 'open an incident')
  const upstream = await first(`/api/inference/upstreams?team=${TEAM}`)
  await new Promise((resolve) => setTimeout(resolve, 3000))
  const delivery = await first(`/api/deliveries?team=${TEAM}&state=retrying`)
  const events = await fetch(
    `${service.address}/api/events?order=desc&project_id=${PROJECT}&types=ObjectPublished&limit=1`,
    { headers: { authorization: `Bearer ${key}` } },
  )
  const { position: event } = JSON.parse(await events.text()) as { position: string }
  const trace = `/${PROJECT}/traces/${answer!.trace_id}?call=${chat?.id ?? answer!.id}`
  const [crawl] = await find('index_documentation')
  const { rows: runs } = (await sender(service.address, key)('POST', '/api/pages/evaluations', {
    project_id: PROJECT,
  })) as unknown as { rows: readonly { id: string }[] }
  const compared = runs.map(({ id }) => id).reverse()
  const compareCalls = (await find('openai.chat.completions.create'))
    .slice(0, 2)
    .map(({ id }) => id)
    .join(',')
  const PICTURES = [
    ['overview', `/${PROJECT}?range=30d`, 'answer_question'],
    ['usage', `/${PROJECT}/usage?range=30d`, 'gpt-4o-mini'],
    ['comparison', `/${PROJECT}/evaluations/compare?runs=${compared.join(',')}`, 'Regressions'],
    ['traces', `/${PROJECT}/traces`, 'answer_question'],
    ['trace', trace, 'Started'],
    ['automation', `/${TEAM}/-/automations/${automation}`, 'Newest event that it fired for'],
  ] as const
  const OTHERS = [
    ['usage-by-three', `/${PROJECT}/usage?by=model,op,end_user`, 'gpt-4o-mini'],
    ['threads', `/${PROJECT}/threads`, 'thread-1'],
    ['thread', `/${PROJECT}/threads/thread-1`, 'turns'],
    ['calls', `/${PROJECT}/compare?calls=${compareCalls}`, 'openai.chat'],
    ['evaluations', `/${PROJECT}/evaluations`, 'support-answers'],
    ['run', `/${PROJECT}/evaluations/${compared[0]}`, 'Rows'],
    ['rules', `/${PROJECT}/evaluations/rules`, 'Rules'],
    ['leaderboards', `/${PROJECT}/evaluations/leaderboards`, 'Leaderboards'],
    ['runs', `/${PROJECT}/runs?columns=config.lr,summary.train/loss`, 'too-large-steps'],
    ['one-run', `/${PROJECT}/runs/too-large-steps`, 'saved the last checkpoint'],
    ['training', `/${PROJECT}/training`, 'Training'],
    ['history', `/${PROJECT}/history`, 'object published'],
    ['event', `/${PROJECT}/history?event=${event}`, 'Metadata'],
    ['as-of', `/${PROJECT}/traces?as_of=${event}`, 'As of position'],
    ['upstreams', `/${TEAM}/-/gateway/upstreams`, 'Upstreams'],
    ['upstream', `/${TEAM}/-/gateway/upstreams/${upstream}`, 'Base URL'],
    ['new-upstream', `/${TEAM}/-/gateway/upstreams/new`, 'Base URL'],
    ['keys', `/${TEAM}/-/gateway/keys`, 'Keys'],
    ['projects', `/${TEAM}/-/settings/projects`, 'support'],
    ['models', `/${TEAM}/-/gateway/models`, 'acme/assistant'],
    ['limits', `/${TEAM}/-/gateway/limits`, 'month'],
    ['spend', `/${TEAM}/-/gateway/spend`, 'gpt-4o-mini'],
    ['crawl', `/${PROJECT}/traces/${crawl!.trace_id}`, 'read_page'],
    ['home', '/', 'Projects'],
    ['webhooks', `/${TEAM}/-/webhooks`, 'deploy'],
    ['webhook', `/${TEAM}/-/webhooks/${webhook}`, 'Endpoint URL'],
    ['new-webhook', `/${TEAM}/-/webhooks/new`, 'Endpoint URL'],
    ['deliveries', `/${TEAM}/-/deliveries`, 'CALL_FAILED'],
    ['delivery', `/${TEAM}/-/deliveries/${delivery}`, 'Attempt 1'],
    ['automations', `/${TEAM}/-/automations`, 'A call fails'],
    ['new-automation', `/${TEAM}/-/automations/new?project=support`, 'Payload'],
    ['members', `/${TEAM}/-/settings/members`, 'Add a member'],
    ['secrets', `/${TEAM}/-/settings/secrets`, 'SIGNING_KEY'],
    ['prices', `/${TEAM}/-/settings/prices`, 'price list'],
    ['account', '/-/account', 'Begins with'],
  ] as const
  const shoot = async (
    [name, path, text]: readonly [string, string, string],
    file: string,
    width = 1440,
    theme: 'light' | 'dark' = 'light',
  ) => {
    const page = await open(path, text, width, theme)
    await page.screenshot({ path: file })
    await page.context().close()
    console.log(`${name}: ${file}`)
  }
  if (process.env['ALL'] === '1') {
    const all = await mkdtemp(join(tmpdir(), 'tallytree-pages-'))
    const chosen = process.env['PAGES']?.split(',')
    for (const picture of [...PICTURES, ...OTHERS].filter(([name]) => chosen?.includes(name) ?? true))
      for (const width of [1440, 390, 1920])
        for (const theme of ['light', 'dark'] as const)
          await shoot(picture, join(all, `${picture[0]}-${width}-${theme}.png`), width, theme)
  } else for (const picture of PICTURES) await shoot(picture, `docs/pictures/${picture[0]}.png`)
} finally {
  await browser.close()
  await service.stop()
  receiver.close()
  models.server.close()
  await rm(directory, { recursive: true, force: true })
}
