import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from './support/child.js'

/**
 * The bookkeeping of training: how long does it take to queue JOBS=1000 jobs of one model and to give them to a worker,
 * how long does a page of 100 events take within a job of STEPS=100000 gradient steps, and how much slower are the chat
 * and the calls of others while the engine trains?
 */
const KEY = 'administrator-key-of-the-bench'
const JOBS = Number(process.env['JOBS'] ?? 1000)
const STEPS = Number(process.env['STEPS'] ?? 100_000)
const SECONDS = Number(process.env['SECONDS'] ?? 15)
const REPORTS_OF_REQUEST = 1000
const PAGE = 100

const directory = await mkdtemp(join(tmpdir(), 'tallytree-bench-training-'))
const service = await startService({
  TALLYTREE_PORT: '0',
  TALLYTREE_DATA_DIR: directory,
  TALLYTREE_BOOTSTRAP_API_KEY: KEY,
})

const send = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
  const response = await fetch(service.address + path, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}
const post = (path: string, body: object) => send('POST', `/v1/preview${path}`, body)

const timed = async (run: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await run()
  return performance.now() - began
}

const shown = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!.toFixed(1)
  return `median ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

const createModel = async (name: string, base_model: string) =>
  (await post('/models', { entity: 'bench', project: 'p', name, base_model, return_existing: true }))[
    'id'
  ] as string
const createJob = async (model_id: string, trajectory_groups: readonly object[] = []) =>
  (await post('/training-jobs', { model_id, trajectory_groups }))['id'] as string
const claim = async () =>
  (await post('/workers/claim', { worker: 'w', base_models: ['bench/base'] }))['job'] as {
    readonly id: string
    readonly lease_id: string
  } | null

const queueing = async (): Promise<void> => {
  const model = await createModel('queued', 'bench/base')
  const created: number[] = []
  for (let n = 0; n < JOBS; n += 1) created.push(await timed(() => createJob(model)))
  console.log(
    `${JOBS} jobs queued: the first ${PAGE} ${shown(created.slice(0, PAGE))}, the last ${PAGE} ${shown(created.slice(-PAGE))}`,
  )
  const given: number[] = []
  for (let n = 0; n < JOBS; n += 1)
    given.push(
      await timed(async () => {
        const { id, lease_id } = (await claim())!
        await post(`/training-jobs/${id}/fail`, { lease_id, error_message: 'not trained' })
      }),
    )
  console.log(`${JOBS} jobs given to a worker, and failed by it: ${shown(given)}`)
}

const events = async (): Promise<void> => {
  const model = await createModel('long', 'bench/base')
  const id = await createJob(model)
  const { lease_id } = (await claim())!
  const report = (at: number) =>
    at === 0
      ? { type: 'training_started', num_sequences: STEPS }
      : { type: 'gradient_step', metrics: { loss: 1 / at, grad_norm: 1, learning_rate: 1e-4 } }
  const reported: number[] = []
  for (let first = 0; first < STEPS; first += REPORTS_OF_REQUEST) {
    const reports = Array.from({ length: REPORTS_OF_REQUEST }, (_, at) => report(first + at))
    reported.push(await timed(() => post(`/training-jobs/${id}/reports`, { lease_id, first, reports })))
  }
  const seconds = reported.reduce((sum, ms) => sum + ms, 0) / 1000
  console.log(`${STEPS} gradient steps reported in ${seconds.toFixed(1)} s, ${REPORTS_OF_REQUEST} a request`)
  const pages: number[] = []
  let after = ''
  for (let read = 0; read + PAGE <= STEPS; read += PAGE) {
    pages.push(
      await timed(async () => {
        const path = `/v1/preview/training-jobs/${id}/events?limit=${PAGE}${after}`
        const { data } = (await send('GET', path)) as { readonly data: readonly { readonly id: string }[] }
        after = `&after=${data.at(-1)!.id}`
      }),
    )
  }
  console.log(
    `pages of ${PAGE} events: the first 50 ${shown(pages.slice(0, 50))}, the last 50 ${shown(pages.slice(-50))}`,
  )
  await post(`/training-jobs/${id}/fail`, { lease_id, error_message: 'over' })
}

const others = async (): Promise<readonly (readonly [string, readonly number[]])[]> => {
  const until = performance.now() + SECONDS * 1000
  const [chats, calls]: [number[], number[]] = [[], []]
  const again = async (times: number[], run: () => Promise<unknown>) => {
    while (performance.now() < until) times.push(await timed(run))
  }
  const messages = [{ role: 'user', content: 'hello' }]
  await Promise.all([
    again(chats, () => send('POST', '/v1/chat/completions', { model: 'tiny/byte', messages, max_tokens: 8 })),
    again(calls, () =>
      send('POST', '/call/upsert_batch', {
        batch: [
          {
            mode: 'start',
            req: {
              start: {
                project_id: 'bench/q',
                op_name: 'op',
                started_at: new Date().toISOString(),
                attributes: {},
                inputs: {},
              },
            },
          },
        ],
      }),
    ),
  ])
  return [
    ['chat', chats],
    ['calls', calls],
  ]
}

const beside = async (): Promise<void> => {
  const line = JSON.stringify({
    messages: [
      { role: 'user', content: 'the quick brown fox' },
      { role: 'assistant', content: 'jumps over the lazy dog' },
    ],
  })
  const form = new FormData()
  form.set('purpose', 'fine-tune')
  form.set('file', new Blob([Array<string>(500).fill(line).join('\n')]), 'train.jsonl')
  const authorization = `Bearer ${KEY}`
  const uploaded = await fetch(`${service.address}/v1/files`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  })
  const { id } = (await uploaded.json()) as { readonly id: string }
  await others()
  const quiet = await others()
  const job = await send('POST', '/v1/fine_tuning/jobs', {
    model: 'tiny/byte',
    training_file: id,
    hyperparameters: { n_epochs: 50 },
  })
  const training = await others()
  const { status } = await send('GET', `/v1/fine_tuning/jobs/${job['id'] as string}`)
  if (status !== 'running') throw new Error(`the job is ${String(status)}: it should outlast the measurement`)
  for (const [at, [name, times]] of quiet.entries()) {
    const p99 = (list: readonly number[]) => list.toSorted((a, b) => a - b)[Math.floor(0.99 * list.length)]!
    const ratio = p99(training[at]![1]) / p99(times)
    console.log(
      `${name}: ${shown(times)}; while the engine trains ${shown(training[at]![1])}, p99 ${ratio.toFixed(2)} times (goal 2)`,
    )
  }
}

try {
  await claim()
  await queueing()
  await events()
  await beside()
} finally {
  await service.stop()
  await rm(directory, { recursive: true, force: true })
}
