import type { WriteStream } from 'node:tty'
import { setTimeout as sleep } from 'node:timers/promises'
import { asking, askPatiently, requireApiKey, textOf, type Ask } from '../adapters/remote-service/request.js'
import type { Config } from '../config.js'
import { OperatorError } from '../kernel/ports/operator-error.js'
import { chartOf, shownNumber } from './chart.js'

interface WatchRequest {
  readonly job: string
  readonly url: string | undefined
}

interface JobEvent {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, number | string>>
}

const POLL_MS = 500
const PAGE = 1000
/** How long the service may be away once it was reached. */
const AWAY_MS = 60_000
const CHART = { width: 60, height: 6 }
/** The metrics that have a chart. */
const CHARTED = ['loss', 'policy_loss', 'reward']

/**
 * `tallytree jobs watch`: follows a training job to its end. Charts its metrics on a terminal, and writes a line for each
 * gradient step elsewhere. Returns the exit code, 1 if the job did not succeed.
 */
export const watchJob = async (
  { job, url }: WatchRequest,
  config: Config,
  out: Pick<WriteStream, 'write'> & { readonly isTTY?: boolean } = process.stdout,
): Promise<number> => {
  const ask = asking(
    url ?? `http://${config.host}:${config.port}`,
    requireApiKey(config.apiKey, 'a key of a member of the team'),
  )
  const id = job.replace(/^ftjob-/, '')
  const show = out.isTTY === true ? chartsOn(out) : linesOn(out)
  const steps: JobEvent['data'][] = []
  let expected = 0
  let waiting = ''
  for await (const events of pagesOf(ask, id)) {
    for (const { type, data } of events) {
      if (type === 'training_started') expected = Number(data['num_sequences'])
      if (type === 'gradient_step') steps.push(data)
    }
    const end = events.find(({ type }) => type === 'training_ended' || type === 'training_failed')
    if (steps.length > 0 && events.length > 0) show(steps, expected)
    if (end !== undefined) {
      out.write(end.type === 'training_ended' ? 'succeeded\n' : `failed: ${end.data['error_message']}\n`)
      return end.type === 'training_ended' ? 0 : 1
    }
    if (steps.length > 0) continue
    const state = await stateOf(ask, id)
    if (state !== waiting) out.write(`${state}\n`)
    waiting = state
  }
  return 1
}

/** The new events, again and again. */
async function* pagesOf(ask: Ask, job: string): AsyncGenerator<readonly JobEvent[]> {
  let after = ''
  let reachedAt: number | undefined
  for (;;) {
    try {
      const { data, has_more } = (await jsonAt(ask, `${pathOf(job)}/events?limit=${PAGE}${after}`)) as {
        readonly data: readonly JobEvent[]
        readonly has_more: boolean
      }
      reachedAt = performance.now()
      const last = data.at(-1)
      if (last !== undefined) after = `&after=${last.id}`
      yield data
      if (has_more) continue
    } catch (error) {
      const isAway = reachedAt !== undefined && performance.now() - reachedAt < AWAY_MS
      if (!(error instanceof OperatorError) || !isAway) throw error
    }
    await sleep(POLL_MS)
  }
}

const stateOf = async (ask: Ask, job: string): Promise<string> => {
  const { state, queue_position, worker } = (await jsonAt(ask, pathOf(job))) as {
    readonly state: string
    readonly queue_position: number | null
    readonly worker: string | null
  }
  if (queue_position !== null) return `queued: ${queue_position} jobs of the model are before it`
  return worker === null ? state : `${state} on ${worker}`
}

const pathOf = (job: string): string => `/v1/preview/training-jobs/${encodeURIComponent(job)}`

const jsonAt = async (ask: Ask, path: string): Promise<unknown> => {
  const answer = await askPatiently(ask, path)
  const text = await textOf(answer)
  if (answer.statusCode === 404)
    throw new OperatorError('there is no such training job, or the API key has no access to its team')
  return JSON.parse(text)
}

type Show = (steps: readonly JobEvent['data'][], expected: number) => void

const shownMetrics = (metrics: JobEvent['data']): string =>
  Object.entries(metrics)
    .map(([name, value]) => `${name} ${shownNumber(Number(value))}`)
    .join(', ')

const linesOn = (out: Pick<WriteStream, 'write'>): Show => {
  let shown = 0
  return (steps, expected) => {
    for (; shown < steps.length; shown += 1)
      out.write(`step ${shown + 1} of ${expected}: ${shownMetrics(steps[shown]!)}\n`)
  }
}

const chartsOn = (out: Pick<WriteStream, 'write'>): Show => {
  let height = 0
  return (steps, expected) => {
    const charts = CHARTED.flatMap((name) => {
      const values = steps.flatMap((metrics) => (name in metrics ? [Number(metrics[name])] : []))
      return values.length === 0 ? [] : [name, ...chartOf(values, CHART.width, CHART.height)]
    })
    const lines = [...charts, `step ${steps.length} of ${expected}: ${shownMetrics(steps.at(-1)!)}`]
    const up = height === 0 ? '' : `\u001b[${height}A`
    out.write(`${up}${lines.map((line) => `\u001b[K${line}\n`).join('')}`)
    height = lines.length
  }
}
