import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import type { TestService } from '../support/service.js'
import { aStart, anEnd } from '../support/call-requests.js'
import type { JsonObject } from '../../src/kernel/json/json.js'
import { accepted, textIn } from '../api/calls/given.js'
import { clientOf } from '../api/wandb/given.js'

const TEAM = 'acme'

export interface GivenWebhook {
  readonly webhook: string
  readonly automation: string
}

/** A webhook with secrets, and an automation that sends it a message for each failed call of the demo's project. */
export const givenWebhook = async (
  service: TestService,
  url: string,
  name = 'deploy',
  payload = '{"text": "call ${call_id} failed"}',
): Promise<GivenWebhook> => {
  for (const secret of ['SIGNING_KEY', 'HOOK_TOKEN'])
    accepted(await service.send('PUT', `/api/teams/${TEAM}/secrets/${secret}`, { value: randomUUID() }))
  const webhook = textIn(
    accepted(
      await service.post(`/api/teams/${TEAM}/webhooks`, {
        name,
        url,
        secret: 'SIGNING_KEY',
        access_token: 'HOOK_TOKEN',
        retry_waits_s: [600],
      }),
    ),
    'id',
  )
  const automation = textIn(
    accepted(
      await service.post('/api/automations', {
        team: TEAM,
        name,
        webhook,
        payload,
        scope: { type: 'project', project: 'support' },
        event: { type: 'CALL_FAILED' },
      }),
    ),
    'id',
  )
  return { webhook, automation }
}

/** Records a call that failed, and gives its id. */
export const failCall = async (service: TestService, project: string): Promise<string> => {
  const { calls } = service.in(project)
  const { id } = await calls.start({ op_name: 'publish', started_at: new Date().toISOString() }).json()
  accepted(
    await calls.end(id, { ended_at: new Date().toISOString(), exception: 'ValueError: no such version' }),
  )
  return id
}

/** The id of a delivery of the automation, once it is over or waits. */
export const deliveryOf = async (service: TestService, automation: string): Promise<string> => {
  for (;;) {
    const { data } = accepted(
      await service.send('GET', `/api/deliveries?team=${TEAM}&automation=${automation}`),
    ) as { data: { id: string; attempts: number; state: string }[] }
    const tried = data.find(({ attempts, state }) => attempts > 0 && state !== 'in_flight')
    if (tried !== undefined) return tried.id
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** The key of a new member of the team. */
export const keyOfMember = async (service: TestService, user: string, role = 'member'): Promise<string> =>
  textIn(accepted(await service.post(`/api/teams/${TEAM}/members`, { user, role })), 'api_key')

export interface GivenCall {
  readonly start?: object
  /** Null for a call that is running. */
  readonly end?: object | null
}

/** The start of the n-th call of a trace. */
export const timeOf = (n: number): string => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString()

/** Records calls of a trace: the first is the root, the others are its children. */
export const recordTrace = async (
  service: TestService,
  project: string,
  trace_id: string,
  calls: readonly GivenCall[],
): Promise<void> => {
  for (let from = 0; from < calls.length; from += 500) {
    const batch = calls.slice(from, from + 500).flatMap(({ start = {}, end = {} }, at) => {
      const n = from + at
      const id = `${trace_id}-${n}`
      const place = { id, trace_id, parent_id: n === 0 ? null : `${trace_id}-0`, started_at: timeOf(n) }
      return [
        { mode: 'start', req: { start: aStart(project, { ...place, ...start }) } },
        ...(end === null
          ? []
          : [{ mode: 'end', req: { end: anEnd(project, id, { ended_at: timeOf(n + 1), ...end }) } }]),
      ]
    })
    accepted(await service.post('/call/upsert_batch', { batch }))
  }
}

/** Records a thread of turns `turn-1`, `turn-2` …, each a trace of its own. */
export const recordThread = async (
  service: TestService,
  project: string,
  thread_id: string,
  turns: readonly GivenCall[],
  prefix = 'turn',
): Promise<void> => {
  const batch = turns.flatMap(({ start = {}, end = {} }, index) => {
    const id = `${prefix}-${index + 1}`
    const place = { id, trace_id: id, turn_id: id, thread_id, started_at: timeOf(index) }
    return [
      { mode: 'start', req: { start: aStart(project, { ...place, ...start }) } },
      { mode: 'end', req: { end: anEnd(project, id, { ended_at: timeOf(index + 1), ...end }) } },
    ]
  })
  accepted(await service.post('/call/upsert_batch', { batch }))
}

/** Presses Tab until the element with this name has the focus. */
export const tabTo = async (page: Page, name: string): Promise<void> => {
  for (let n = 0; n < 80; n += 1) {
    await page.keyboard.press('Tab')
    const found = await page.evaluate<string>(FOCUSED)
    if (found.replace(/\s*\*$/, '').trim() === name) return
  }
  throw new Error(`no element named ${name} can be reached with Tab`)
}

/** The label or the text of the element that has the focus; choices of a group are not meant. */
const FOCUSED = `(() => {
  const { activeElement: at } = document
  if (at.type === 'radio') return ''
  return at.getAttribute('aria-label') ?? at.labels?.[0]?.textContent ?? at.textContent
})()`

export const choose = async (page: Page, label: string, option: string): Promise<void> => {
  await tabTo(page, label)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Control+a')
  await page.keyboard.type(option)
  await page.getByRole('option', { name: option }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: option }).waitFor({ state: 'detached' })
}

/** Single keys are text while a field has the focus. */
export const leaveField = async (page: Page): Promise<void> => {
  await page.keyboard.press('Escape')
}

export const goTo = async (page: Page, target: string): Promise<void> => {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type(target)
  await page.getByRole('option', { name: target }).waitFor()
  await page.keyboard.press('Enter')
}

/** A run as the package `wandb` logs one: 100 rows with a configuration, a summary and what its program printed. */
export const logRun = async (
  service: TestService,
  project: string,
  id: string,
  { name = `${id} run`, rows = rowsOf(100), isOver = true } = {},
): Promise<void> => {
  const client = clientOf(service, project)
  const config = JSON.stringify({ lr: { value: 0.1, desc: null }, model: { value: { layers: 2 } } })
  await client.init(id, { displayName: name, config })
  const summary = JSON.stringify(rows.at(-1))
  accepted(
    await client.stream(id, {
      files: {
        'wandb-history.jsonl': { offset: 0, content: rows.map((row) => JSON.stringify(row)) },
        'wandb-summary.json': { offset: 0, content: [summary] },
        'output.log': { offset: 0, content: ['epoch 0 done', 'epoch 1 done'] },
      },
      ...(isOver ? { complete: true, exitcode: 0 } : {}),
    }),
  )
}

const rowsOf = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, n) => ({
    loss: 1 / (n + 1),
    'val/accuracy': n / count,
    _step: n,
    _timestamp: 1.79e9 + n,
  }))
