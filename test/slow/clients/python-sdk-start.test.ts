import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { startRunningService, type RunningService } from '../../support/running-service.js'

/** What `weave.init` and a first traced op of the Python package send, replayed. */
describe('the requests with which the Python package starts', () => {
  let service: RunningService
  let authorization: string
  before(async () => {
    service = await startRunningService()
    authorization = `Basic ${Buffer.from(`api:${service.key}`).toString('base64')}`
  })
  after(() => service.remove())

  const send = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const response = await fetch(`${service.address}${path}`, {
      method,
      headers: {
        authorization,
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    assert.equal(response.status, 200, `${path}: ${text}`)
    return text
  }

  const post = async (path: string, body: unknown) => JSON.parse(await send('POST', path, body))

  /** GraphQL as the packages send it; an answer with errors makes them raise. */
  const graphQl = async (operationName: string, query: string, variables?: object) => {
    const body = { query, ...(variables && { variables }), operationName }
    const { data, errors } = await post('/graphql', body)
    assert.equal(errors, undefined)
    return data
  }

  const WHO = `query DefaultEntity {
    viewer { username defaultEntity { name } }
  }`
  const PROJECT = `query Project($name: String!, $entityName: String!) {
    project(name: $name, entityName: $entityName) { name }
  }`
  const PROJECT_OF_OLD = `query ProjectDetails($entity: String, $project: String) {
    model(name: $project, entityName: $entity) { id name repo dockerImage description }
  }`
  const UPSERT = `mutation UpsertModel($name: String!, $id: String, $entity: String!, $description: String, $repo: String) {
    upsertModel(input: {id: $id, name: $name, entityName: $entity, description: $description, repo: $repo}) {
      model { name description }
    }
  }`
  const VIEWER_OF_OLD = `query Viewer {
    viewer { id entity username email flags teams { edges { node { name } } } }
    serverInfo {
      cliVersionInfo
      latestLocalVersionInfo { outOfDate latestVersionString versionOnThisInstanceString }
    }
  }`

  it('name no team: the default entity is that of the key', async () => {
    const { viewer } = await graphQl('DefaultEntity', WHO)
    assert.deepEqual(viewer, { username: 'admin', defaultEntity: { name: 'default' } })
  })

  it('look for the project, and find it under the name they gave', async () => {
    const name = 'First_Project'
    assert.deepEqual(await graphQl('Project', PROJECT, { name, entityName: 'default' }), {
      project: { name },
    })
    const { model } = await graphQl('ProjectDetails', PROJECT_OF_OLD, { entity: 'default', project: name })
    assert.equal(model.name, name)
  })

  it('make the project where they do not look, as often as they start', async () => {
    for (const more of [{}, { description: null }, { description: null, id: null, repo: null }])
      assert.deepEqual(await graphQl('UpsertModel', UPSERT, { name: 'made', entity: 'team', ...more }), {
        upsertModel: { model: { name: 'made', description: null } },
      })
  })

  it('ask who traces, and for the version that the server needs', async () => {
    assert.equal((await graphQl('DefaultEntity', WHO)).viewer.username, 'admin')
    assert.deepEqual(JSON.parse(await send('GET', '/server_info')), {
      min_required_weave_python_version: '0.0.0',
      trace_server_version: null,
    })
    const { viewer, serverInfo } = await graphQl('Viewer', VIEWER_OF_OLD)
    assert.deepEqual(viewer.teams.edges, [{ node: { name: 'default' } }])
    assert.deepEqual(serverInfo.cliVersionInfo, {})
    assert.equal((await fetch(`${service.address}/health`)).status, 200)
  })

  for (const prefix of ['', '/traces'])
    it(`then trace an op, whose code can be read back: ${prefix === '' ? 'at the root' : prefix}`, async () => {
      const project_id = `default/python${prefix.slice(1)}`
      const code = 'import weave\n\n@weave.op\ndef answer(question: str) -> str:\n    return "Because."\n'
      const form = new FormData()
      form.append('project_id', project_id)
      form.append('file', new Blob([code], { type: 'application/octet-stream' }), 'obj.py')
      const file = JSON.parse(await send('POST', `${prefix}/files/create`, form))
      const val = {
        _type: 'CustomWeaveType',
        weave_type: { type: 'Op' },
        files: { 'obj.py': file.digest },
      }
      const object = await post(`${prefix}/obj/create`, {
        obj: { project_id, object_id: 'answer', val, wb_user_id: null },
      })
      const id = randomUUID()
      const start = {
        project_id,
        id,
        op_name: `weave:///${project_id}/op/answer:${object.digest}`,
        display_name: null,
        trace_id: randomUUID(),
        parent_id: null,
        thread_id: null,
        turn_id: null,
        started_at: '2026-01-01T00:00:00.123456Z',
        attributes: { weave: { client_version: '0.52.0', source: 'python-sdk', os_name: 'Linux' } },
        inputs: { question: 'Why?' },
        wb_user_id: null,
        wb_run_id: null,
        wb_run_step: null,
      }
      const summary = {
        usage: { m: { requests: 1, prompt_tokens: 12 } },
        status_counts: { success: 1, error: 0 },
      }
      const end = {
        project_id,
        id,
        ended_at: '2026-01-01T00:00:01.5Z',
        exception: null,
        output: 'Because.',
        summary,
      }
      const { res } = await post(`${prefix}/call/upsert_batch`, {
        batch: [
          { mode: 'start', req: { start } },
          { mode: 'end', req: { end: { ...end, wb_run_step_end: null } } },
        ],
      })
      assert.deepEqual(res, [{ id, trace_id: start.trace_id }, {}])

      const { call } = await post(`${prefix}/call/read`, { project_id, id })
      assert.deepEqual([call.output, call.summary.weave.trace_name], ['Because.', 'answer'])
      assert.equal(await send('POST', `${prefix}/files/content`, { project_id, digest: file.digest }), code)
    })
})
