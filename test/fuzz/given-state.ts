import type { Json } from '../../src/domain/json/json.js'
import type { Answered, TestService } from '../support/service.js'
import { accepted, aCompleted, aStart, anEnd, textIn } from '../api/tracing/given.js'
import { HOME, PROJECTS, STRANGERS } from './known.js'
import type { Memory } from './memory.js'

/** Stands in what only the strangers have. */
export const SECRET = 'only-the-strangers-know-this'

const AREAS = { calls: 'Calls', objects: 'Objects', tables: 'Tables', files: 'Files', feedback: 'Feedback' }
void AREAS

/** Calls, objects, tables, files and feedback in each project, and a member of the team that most requests are about. */
export const givenState = async (
  service: TestService,
  areaOf: (template: string) => string,
  memory: Memory,
): Promise<{ readonly memberKey: string }> => {
  const post = async (path: string, body: unknown, ask = {}): Promise<Answered> => {
    const answer = await service.post(path, body, ask)
    memory.remember(areaOf(path), accepted(answer) as Json)
    return answer
  }
  for (const project of PROJECTS) await givenProject(post, service, project)
  const added = await service.post('/api/teams/home/members', {
    user: 'member',
    roles: ['member', 'team_administrator'],
  })
  return { memberKey: textIn(accepted(added), 'api_key') }
}

type Post = (path: string, body: unknown) => Promise<Answered>

const givenProject = async (post: Post, service: TestService, project_id: string): Promise<void> => {
  const note = project_id === STRANGERS ? SECRET : 'note'
  const usage = { m: { prompt_tokens: 1, completion_tokens: 2, requests: 1 } }
  for (let i = 0; i < 5; i += 1) {
    const start = aStart(project_id, { inputs: { a: i, note }, thread_id: `thread-${i}` })
    const started = accepted(await post('/call/start', { start }))
    const child = aCompleted(project_id, { parent_id: start.id, summary: { usage } })
    const batch = [{ ...child, trace_id: started['trace_id'], output: { note } }]
    await post(`/v2/${project_id}/calls/complete`, { batch })
    if (i < 3) await post('/call/end', { end: anEnd(project_id, start.id, { output: [note], summary: { usage } }) })
    for (const object_id of ['model', 'prompt'])
      await post('/obj/create', { obj: { project_id, object_id, val: { a: i, note, list: [1, { b: 2 }] } } })
    const rows = [{ a: i, note }, { a: { b: [i] } }, { c: null }]
    const { digest } = accepted(await post('/table/create', { table: { project_id, rows } }))
    const val = { _type: 'Dataset', rows: `weave:///${project_id}/table/${String(digest)}` }
    await post('/obj/create', { obj: { project_id, object_id: 'data', val } })
    const weave_ref = `weave:///${project_id}/call/${start.id}`
    await post('/feedback/create', { project_id, weave_ref, feedback_type: 'custom', payload: { a: i, note } })
    await givenFile(service, project_id, `${note} ${i}`)
  }
  await post('/calls/query', { project_id })
  await post('/objs/query', { project_id })
  await post('/feedback/query', { project_id })
}

const givenFile = async (service: TestService, project_id: string, content: string): Promise<void> => {
  const body = [
    `--x\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n${project_id}\r\n`,
    `--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${content}\r\n--x--\r\n`,
  ].join('')
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  accepted(await service.post('/file/create', body, { headers }))
}
void HOME
