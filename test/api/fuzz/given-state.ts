import { createHash } from 'node:crypto'
import { entityOf } from '../../../src/kernel/ids.js'
import type { Client } from '../../support/client.js'
import { aCompleted, aStart, anEnd } from '../../support/call-requests.js'
import { accepted, textIn } from '../calls/given.js'
import { givenRescoring } from './given-rescoring.js'
import type { AreaOf, Memory } from './memory.js'
import { HOME, PROJECTS, STRANGERS } from './places.js'

/** Stands in what only the strangers have. */
export const SECRET = 'only-the-strangers-know-this'

/** Files, and calls and all else, in each project. */
const FILES = 5

/** Calls, objects, tables, files, feedback, artifacts and runs in each project, and a registry of each team; those at home are remembered. */
export const givenState = async (
  service: Client,
  areaOf: AreaOf,
  memory: Memory,
  round: number,
): Promise<void> => {
  for (const project of PROJECTS) {
    await givenProject(project, round, async (path, body, headers = {}) => {
      const answer = accepted(await service.post(path, body, { headers }))
      if (project === HOME) memory.remember(areaOf(path), answer)
      return answer
    })
  }
  for (const team of ['home', 'strangers'])
    accepted(await service.send('PUT', `/api/teams/${team}/secrets/TOKEN`, { value: SECRET }))
  await givenAutomation(service, areaOf, memory)
  await givenRescoring(service, areaOf, memory)
  await givenQueue(service, memory)
  for (let i = 0; i < FILES; i += 1)
    memory.remember('audit', { digest: createHash('sha256').update(`note ${i}`).digest('hex') })
  for (const project_id of [STRANGERS, HOME])
    for (const path of ['/calls/query', '/objs/query', '/feedback/query'])
      memory.remember(areaOf(path), accepted(await service.post(path, { project_id })))
}

/** The key of a member of the team at home, and the ids of all keys that the requests are sent with. */
export const givenMember = async (service: Client) => {
  const roles = ['member', 'team_administrator']
  const added = await service.post('/api/teams/home/members', { user: 'member', roles })
  const key = textIn(accepted(added), 'api_key')
  const own = await Promise.all(
    [{}, { key }].map((options) => service.send('GET', '/api/users/me/api-keys', undefined, options)),
  )
  const ids = own.flatMap((answer) => answer.json<{ data: { id: string }[] }>().data.map(({ id }) => id))
  return { key, ids }
}

/** A webhook and an automation at home, unless they are there still. */
const givenAutomation = async (service: Client, areaOf: AreaOf, memory: Memory): Promise<void> => {
  const event = { type: 'ADD_ARTIFACT_ALIAS', alias_pattern: '^prod' }
  const scope = { type: 'project', project: 'first' }
  for (const [path, body] of [
    ['/api/teams/{team}/webhooks', { name: 'hook', url: 'https://127.0.0.1/in' }],
    ['/api/automations', { team: 'home', name: 'it', webhook: 'hook', payload: '{}', scope, event }],
  ] as const) {
    const answer = await service.post(path.replace('{team}', 'home'), body)
    if (answer.status !== 409) memory.remember(areaOf(path), accepted(answer))
  }
}

/** An annotation queue at home with an item that nobody has begun. */
const givenQueue = async (service: Client, memory: Memory): Promise<void> => {
  const { calls, queues } = service.in(HOME)
  const queue_id = await queues.create('reviews')
  const { id } = await calls.start().json()
  await queues.add(queue_id, id).json()
  const [item] = await queues.items(queue_id)
  memory.remember('annotation queues', { queue_id, item_id: String(item!['id']) })
}

type Post = (
  path: string,
  body: unknown,
  headers?: Record<string, string>,
) => Promise<Record<string, unknown>>

const givenProject = async (project_id: string, round: number, post: Post): Promise<void> => {
  const note = project_id === STRANGERS ? SECRET : 'note'
  const entity = entityOf(project_id)
  const summary = { usage: { m: { prompt_tokens: 1, completion_tokens: 2, requests: 1 } } }
  for (let i = 0; i < FILES; i += 1) {
    const start = aStart(project_id, { inputs: { a: i, note }, thread_id: `thread-${i}` })
    const { trace_id } = await post('/call/start', { start })
    const batch = [aCompleted(project_id, { parent_id: start.id, summary, trace_id, output: { note } })]
    await post(`/v2/${project_id}/calls/complete`, { batch })
    if (i < 3) await post('/call/end', { end: anEnd(project_id, start.id, { output: [note], summary }) })
    for (const object_id of ['model', 'prompt'])
      await post('/obj/create', {
        obj: { project_id, object_id, val: { a: i, round, note, list: [1, { b: 2 }] } },
      })
    const rows = [{ a: i, round, note }, { a: { b: [i] } }, { c: null }]
    const { digest } = await post('/table/create', { table: { project_id, rows } })
    const val = { _type: 'Dataset', rows: `weave:///${project_id}/table/${String(digest)}` }
    await post('/obj/create', { obj: { project_id, object_id: 'data', val } })
    const weave_ref = `weave:///${project_id}/call/${start.id}`
    const payload = { a: i, note }
    await post('/feedback/create', { project_id, weave_ref, feedback_type: 'custom', payload })
    await post('/file/create', formWith(project_id, `${note} ${i}`), FORM)
    const version = { metadata: { a: i, round, note }, aliases: ['best'] }
    await post(`/api/artifacts/${project_id}/model/versions`, version)
  }
  const named = { 'idempotency-key': 'models' }
  await post('/api/registries', { name: 'models', team: entity }, named)
  const source = {
    entity,
    project: project_id.slice(entity.length + 1),
    collection: 'model',
    version: 'best',
  }
  await post(`/api/registries/models/model/links?team=${entity}`, source)
  await givenEvaluation(project_id, note, round, post)
  const run = `run-${round}`
  await post(`/api/runs/${project_id}`, { name: note, id: run })
  await post(`/api/runs/${project_id}/${run}/metrics`, { metrics: { loss: 1 }, step: 1 })
}

/** A run with a prediction and a score, and the objects of evaluations. */
const givenEvaluation = async (
  project_id: string,
  note: string,
  round: number,
  post: Post,
): Promise<void> => {
  const ref = `weave:///${project_id}/object/model:latest`
  const at = (path: string) => `/v2/${project_id}/${path}`
  const { evaluation_run_id } = await post(at('evaluation_runs'), { evaluation: ref, model: ref })
  const prediction = { model: ref, inputs: { note }, output: note, evaluation_run_id }
  const { prediction_id } = await post(at('predictions'), prediction)
  await post(at('scores'), { prediction_id, scorer: ref, value: 1 })
  await post(at('scorers'), { name: 'scorer', op_source_code: note })
  await post(at('evaluations'), { name: 'evaluation', dataset: ref })
  const val = {
    _type: 'Leaderboard',
    _class_name: 'Leaderboard',
    description: `${note} ${round}`,
    columns: [],
  }
  await post('/obj/create', { obj: { project_id, object_id: 'board', val } })
  await post('/leaderboards/read', { project_id, object_id: 'board' })
}

const FORM = { 'content-type': 'multipart/form-data; boundary=x' }

const formWith = (project_id: string, content: string): string =>
  [
    `--x\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n${project_id}\r\n`,
    `--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${content}\r\n--x--\r\n`,
  ].join('')
