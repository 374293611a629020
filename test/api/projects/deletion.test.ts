import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { engineDirectory } from '../../support/engine.js'
import { foundIn, planted } from '../../support/planted-texts.js'
import { isOnServer } from '../../support/clickhouse-server.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { accepted, reasonOf, textIn } from '../calls/given.js'
import { endpointsOf } from '../http/endpoints.js'
import { OF_PROJECTS } from '../requests-of-tenants.js'
import { anAutomation, aWebhook } from '../webhooks/given.js'

const TEAM = 'default'
const PROJECT = `${TEAM}/doomed`
const PATH = `/api/projects/${PROJECT}`
const LARGE = 300_000

const TEXTS = Object.fromEntries(
  [
    ...['inputs', 'spilled', 'output', 'conflict', 'feedback', 'object', 'table', 'file', 'metadata'],
    ...['path', 'metric', 'history', 'summary', 'console', 'queue', 'refused', 'project'],
  ].map((name) => [name, planted(name)]),
) as Readonly<Record<string, string>>
const KEPT = planted('kept')
/** Also in the file of the dispatcher, until its pages are used again. */
const AUTOMATION = planted('automation')

const usage = { 'gpt-4o': { requests: 1, prompt_tokens: 10, completion_tokens: 7 } }

describe('the deletion of a project', () => {
  let service: TestService
  let directory = ''
  const directories = () => (isOnServer ? [directory] : [directory, engineDirectory])
  const client = () => service.in(PROJECT)
  const post = async (path: string, body: unknown) => accepted(await service.post(path, body))

  const graphQl = async (query: string) => accepted(await service.post('/graphql', { query }))

  /** Content of every kind. */
  const fill = async () => {
    const call = { inputs: { question: TEXTS['inputs'] }, output: TEXTS['output'] }
    await client()
      .calls.complete([
        { id: 'call-1', ...call, summary: { usage, status_counts: { success: 1 } } },
        { id: 'call-2', inputs: { long: `${TEXTS['spilled']} ${'x'.repeat(LARGE)}` } },
      ])
      .json()
    const conflict = await client().calls.start({ id: 'call-1', inputs: { a: TEXTS['conflict'] } })
    assert.equal(conflict.status, 409)
    const weave_ref = `weave:///${PROJECT}/call/call-1`
    await client()
      .feedback.create({ weave_ref, feedback_type: 'note', payload: { note: TEXTS['feedback'] } })
      .json()
    await client().objects.create('prompt', { text: TEXTS['object'] }).json()
    await client()
      .tables.create([{ cell: TEXTS['table'] }])
      .json()
    const form = [
      `--x\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n${PROJECT}\r\n`,
      `--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${TEXTS['file']}\r\n--x--\r\n`,
    ].join('')
    const headers = { 'content-type': 'multipart/form-data; boundary=x' }
    const { digest } = accepted(await service.post('/file/create', form, { headers }))
    await post(`/api/artifacts/${PROJECT}/model/versions`, {
      metadata: { note: TEXTS['metadata'] },
      files: [{ path: TEXTS['path'], digest, size: TEXTS['file']!.length }],
    })
    await post(`/api/runs/${PROJECT}`, { name: 'a run', id: 'run' })
    await post(`/api/runs/${PROJECT}/run/metrics`, { metrics: { [TEXTS['metric']!]: 1 } })
    await post(`/files/${PROJECT}/run/file_stream`, {
      files: {
        'wandb-history.jsonl': {
          offset: 0,
          content: [`{"_step":0,"loss":0.5,"note":"${TEXTS['history']}"}`],
        },
        'wandb-summary.json': { offset: 0, content: [`{"note":"${TEXTS['summary']}"}`] },
        'output.log': { offset: 0, content: [TEXTS['console']] },
      },
    })
    await client().queues.create('queue', { description: TEXTS['queue'] })
    await client().calls.complete([{ id: 'refused', started_at: TEXTS['refused'] }])
    await graphQl(
      `mutation { upsertModel(input: {entityName: "${TEAM}", name: "doomed", description: "${TEXTS['project']}"})
        { model { id } } }`,
    )
    await post(`/api/teams/${TEAM}/webhooks`, aWebhook())
    await post(
      '/api/automations',
      anAutomation(TEAM, {
        scope: { type: 'project', project: 'doomed' },
        payload: `{"text":"${AUTOMATION}"}`,
      }),
    )
  }

  before(async () => {
    service = await startTestService({}, undefined, (config) => {
      directory = config.dataDirectory
      return config
    })
    await fill()
    const other = { id: 'other', inputs: { a: KEPT }, summary: { usage } }
    await service.in(`${TEAM}/other`).calls.complete([other]).json()
  })
  after(() => service.stop())

  const totals = async () => {
    const body = {
      team: TEAM,
      group_by: ['month', 'model', 'status'],
      include_costs: true,
      start: '2020-01-01T00:00:00Z',
      end: '2100-01-01T00:00:00Z',
    }
    return accepted(await service.post('/usage/query', body))
  }
  const projects = async () => {
    const { data } = accepted(await service.send('GET', `/api/teams/${TEAM}/projects`))
    return (data as readonly JsonObject[]).map(({ name }) => name)
  }
  const finished = async (erasure: string): Promise<JsonObject> => {
    let seen: JsonObject = {}
    await until(async () => {
      seen = accepted(await service.send('GET', `${PATH}/erasures/${erasure}`))
      return seen['state'] === 'finished'
    })
    return seen
  }

  let figures: JsonObject = {}
  let id = ''

  it('is previewed with what the project has', async () => {
    assert.deepEqual(foundIn(directories(), Object.values(TEXTS)), Object.values(TEXTS).sort())
    const { preview } = accepted(await service.send('DELETE', `${PATH}?dry_run=true`))
    const { bytes, ...counts } = preview as JsonObject
    assert.deepEqual(counts, {
      ...{ calls: 2, feedback: 1, object_versions: 1, tables: 1, files: 1, artifact_versions: 1, runs: 1 },
      annotation_queues: 1,
    })
    assert.ok(Number(bytes) > LARGE)
    assert.ok((await projects()).includes('doomed'))
  })

  it('removes all of its content from answers and files, and keeps figures', async () => {
    figures = await totals()
    const { erasure } = accepted(await service.send('DELETE', `${PATH}?reason=no%20longer%20needed`))
    id = textIn(erasure as JsonObject, 'id')
    assert.equal((await service.post('/calls/query', { project_id: PROJECT })).status, 404)

    const { calls, unreadable, reason } = await finished(id)

    assert.deepEqual({ calls, unreadable, reason }, { calls: 2, unreadable: 0, reason: 'no longer needed' })
    const { text } = await service.send('GET', '/api/events?limit=1000')
    assert.deepEqual(
      [...Object.values(TEXTS), AUTOMATION].filter((one) => text.includes(one)),
      [],
    )
    assert.deepEqual(foundIn(directories(), Object.values(TEXTS)), [])
    assert.deepEqual(foundIn(directories(), [KEPT]), [KEPT])
    assert.deepEqual(await totals(), figures)
    assert.deepEqual(await projects(), ['other'])
  })

  it('answers a repetition with the same erasure', async () => {
    const { erasure } = accepted(await service.send('DELETE', PATH))
    assert.equal((erasure as JsonObject)['id'], id)
    reasonOf(await service.send('DELETE', `${PATH}?dry_run=true`), 404)
  })

  it('refuses all reads and writes of the project, with the reason', async () => {
    const { eventStore } = service.stores
    const head = await eventStore.head()
    const answered: string[] = []
    for (const { method, path, template } of await endpointsOf(service, PROJECT)) {
      const valid = OF_PROJECTS[`${method} ${template}`]
      if (valid === undefined || path.startsWith(`${PATH}/erasures`) || path === PATH) continue
      const { query = '', body, headers } = valid(PROJECT)
      const { status, text } = await service.send(method, `${path}${query}`, body, {
        ...(headers && { headers }),
      })
      if (status !== 404 || !text.includes('was deleted'))
        answered.push(`${method} ${template} ${status} ${text.slice(0, 120)}`)
    }
    assert.deepEqual(answered, [])
    assert.equal(await eventStore.head(), head)
  })

  it('is the same after a rebuild of the read models', async () => {
    const rebuild = textIn(accepted(await service.post('/api/admin/rebuilds', undefined)), 'id')
    await until(async () => {
      const { state } = accepted(await service.send('GET', `/api/admin/rebuilds/${rebuild}`))
      return state === 'finished'
    })
    assert.deepEqual(await totals(), figures)
    assert.deepEqual(await projects(), ['other'])
    assert.deepEqual(foundIn(directories(), Object.values(TEXTS)), [])
  })

  it('is refused for a project without anything', async () => {
    reasonOf(await service.send('DELETE', `/api/projects/${TEAM}/never-written`), 404)
  })
})
