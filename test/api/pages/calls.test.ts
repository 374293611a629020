import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { accepted } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'
import type { TestService } from '../../support/service.js'
import { aCompleted } from '../../support/call-requests.js'

interface Row {
  readonly id: string
  readonly input: string
  readonly output: string
  readonly tokens: number
  readonly cost: number
  readonly duration_us: number | null
  readonly cells: readonly (string | null)[]
}

describe('the lists of the pages', () => {
  let service: TestService
  before(async () => {
    service = await sharedService()
  })

  const record = async (project: string, ...calls: readonly object[]) =>
    accepted(
      await service.post(`/v2/${project}/calls/complete`, {
        batch: calls.map((call) => aCompleted(project, call)),
      }),
    )
  const ask = (body: object) => service.post('/api/pages/calls', body)
  const rowsOf = async (body: object) =>
    accepted(await ask(body)) as unknown as { rows: Row[]; has_more: boolean }

  it('show the last message and the answer of a conversation', async () => {
    const project = someProject()
    const messages = [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'answer' },
      { role: 'user', content: [{ type: 'text', text: 'What\nis  six times seven?' }] },
    ]
    await record(project, {
      inputs: { model: 'm', messages },
      output: { choices: [{ message: { content: '42' } }] },
    })
    const { rows } = await rowsOf({ project_id: project })
    assert.equal(rows[0]!.input, 'What is six times seven?')
    assert.equal(rows[0]!.output, '42')
  })

  it('show integers of any size exactly', async () => {
    const project = someProject()
    const body = JSON.stringify({ batch: [aCompleted(project, { inputs: { n: 'N' }, output: 'M' })] })
      .replace('"N"', '9007199254740993')
      .replace('"M"', '12345678901234567890')
    accepted(await service.post(`/v2/${project}/calls/complete`, body))
    const { rows } = await rowsOf({ project_id: project, columns: ['inputs.n'] })
    assert.deepEqual([rows[0]!.input, rows[0]!.output], ['9007199254740993', '12345678901234567890'])
    assert.deepEqual(rows[0]!.cells, ['9007199254740993'])
  })

  it('stay small whatever the payload of the calls', async () => {
    const project = someProject()
    await record(project, { inputs: { text: 'long '.repeat(400_000) }, output: 'x'.repeat(1_000_000) })
    const { text } = await ask({ project_id: project })
    assert.ok(text.length < 2000)
  })

  it('page without showing a call twice while calls arrive', async () => {
    const project = someProject()
    const calls = [1, 2, 3, 4].map((n) => ({ id: `call-${n}`, started_at: `2026-01-0${n}T00:00:00Z` }))
    await record(project, ...calls)
    const body = { project_id: project, limit: 2, sort_by: [{ field: 'started_at', direction: 'desc' }] }
    const first = await ask(body)
    await record(project, { id: 'call-5', started_at: '2026-01-05T00:00:00Z' })
    const position = first.headers.get('tallytree-position')!
    const second = await service.post(
      '/api/pages/calls',
      { ...body, offset: 2 },
      { headers: { 'Tallytree-As-Of': position } },
    )
    const ids = [first, second].flatMap((answer) => answer.json<{ rows: Row[] }>().rows.map(({ id }) => id))
    assert.deepEqual(ids, ['call-4', 'call-3', 'call-2', 'call-1'])
    assert.equal(first.json()['has_more'], true)
    assert.equal(second.json()['has_more'], false)
  })

  it('count calls, failures and feedback where they are asked for', async () => {
    const project = someProject()
    const call = (trace_id: string, id: string, parent_id: string | null, more = {}) => ({
      trace_id: `${project}-${trace_id}`,
      id: `${id}-of-${project.slice(5, 13)}`,
      parent_id: parent_id === null ? null : `${parent_id}-of-${project.slice(5, 13)}`,
      ...more,
    })
    const failed = { exception: 'Error: no' }
    await record(
      project,
      call('one', 'a', null),
      call('one', 'b', 'a', failed),
      call('one', 'c', 'b', failed),
      call('one', 'd', 'a'),
      call('two', 'e', null),
      call('two', 'f', null, failed),
      call('two', 'g', 'f'),
      call('two', 'h', 'i'),
      call('two', 'i', 'h'),
    )
    const figures = ['calls', 'errors', 'feedback']
    const asked = { project_id: project, figures, sort_by: [{ field: 'id', direction: 'asc' }] }
    const counted = async (headers = {}) => {
      const answer = accepted(await service.post('/api/pages/calls', asked, { headers }))
      const rows = answer['rows'] as { id: string; calls: number; errors: number; feedback: object }[]
      return rows.map(({ id, calls, errors, feedback }) => [id[0], calls, errors, feedback])
    }
    const before = (await ask(asked)).headers.get('tallytree-position')!
    const expected = [
      ['a', 4, 2, {}],
      ['b', 2, 2, {}],
      ['c', 1, 1, {}],
      ['d', 1, 0, {}],
      ['e', 1, 0, {}],
      ['f', 2, 1, {}],
      ['g', 1, 0, {}],
      ['h', 2, 0, {}],
      ['i', 2, 0, {}],
    ]
    assert.deepEqual(await counted(), expected)
    const weave_ref = `weave:///${project}/call/${call('one', 'a', null).id}`
    for (const [feedback_type, payload] of [
      ['wandb.reaction.1', { emoji: '👍' }],
      ['wandb.reaction.1', { emoji: '👍' }],
      ['wandb.note.1', { note: 'good' }],
    ] as const)
      accepted(
        await service.post('/feedback/create', { project_id: project, weave_ref, feedback_type, payload }),
      )
    accepted(
      await service.post('/calls/delete', { project_id: project, call_ids: [call('one', 'b', 'a').id] }),
    )
    const [a, d] = await counted()
    assert.deepEqual(a, ['a', 2, 0, { '👍': 2, 'wandb.note.1': 1 }])
    assert.deepEqual(d, ['d', 1, 0, {}])
    assert.deepEqual(await counted({ 'Tallytree-As-Of': before }), expected)
    const [plain] = (await rowsOf({ project_id: project })).rows
    assert.deepEqual(
      Object.keys(plain!).filter((name) => figures.includes(name)),
      [],
    )
    for (const wrong of ['calls', ['cells'], [null], { calls: true }, 5]) {
      const { status, text } = await ask({ project_id: project, figures: wrong })
      assert.equal(status, 422)
      assert.match(text, /"figures"/)
    }
  })

  it('name a column that no call can have', async () => {
    const { status, text } = await ask({ project_id: someProject(), columns: ['nothing.like.it'] })
    assert.equal(status, 422)
    assert.match(text, /nothing\.like\.it/)
  })

  it('complete the values of a field, those of most calls first', async () => {
    const project = someProject()
    await record(
      project,
      { op_name: 'rare' },
      { op_name: 'often' },
      { op_name: 'often' },
      { inputs: { a: 'x"\'' } },
    )
    const values = async (more: string) =>
      accepted(await service.send('GET', `/api/pages/values?project_id=${project}&${more}`))['data']
    assert.deepEqual(await values('field=op_name&contains=R'), [
      { value: 'answer', calls: 1 },
      { value: 'rare', calls: 1 },
    ])
    assert.deepEqual(await values('field=op_name&limit=1'), [{ value: 'often', calls: 2 }])
    assert.deepEqual(await values('field=inputs.a'), [{ value: 'x"\'', calls: 1 }])
    await refusedFor(`/api/pages/values?project_id=${project}&field=op_name&since=soon`, 'since')
    await refusedFor(`/api/pages/values?project_id=${project}&field=sta`, 'field')
  })

  it('complete the names of fields by what calls have', async () => {
    const project = someProject()
    await record(project, { inputs: { question: 'q', nested: { deep: 1 } }, attributes: { user: 'u' } })
    const fields = accepted(await service.send('GET', `/api/pages/fields?project_id=${project}&contains=E`))[
      'data'
    ]
    assert.deepEqual(
      (fields as unknown as { path: string; type: string }[]).map(({ path, type }) => [path, type]),
      [
        ['attributes.user', 'text'],
        ['inputs.nested.deep', 'number'],
        ['inputs.question', 'text'],
      ],
    )
  })

  const refusedFor = async (path: string, parameter: string) => {
    const answer = await service.send('GET', path)
    assert.equal(answer.status, 422, path)
    const { detail } = answer.json<{ detail: readonly { loc: readonly string[] }[] }>()
    assert.deepEqual(
      detail.map(({ loc }) => loc),
      [['query', parameter]],
      path,
    )
  }

  it('name the projects of a team', async () => {
    const project = someProject()
    const [team] = project.split('/')
    await record(project, {}, {})
    accepted(
      await service.post('/obj/create', { obj: { project_id: `${team}/other`, object_id: 'o', val: {} } }),
    )
    await rowsOf({ project_id: project })
    accepted(await service.post(`/api/runs/${team}/Runs`, { name: 'nightly' }))
    accepted(await service.send('GET', `/api/runs/${team}/Runs`))
    const projects = async (query = '') => {
      const { data, has_more } = accepted(await service.send('GET', `/api/teams/${team}/projects${query}`))
      return { data: data as JsonObject[], has_more }
    }
    const nothing = {
      calls: 0,
      last_call_at: null,
      object_versions: 0,
      artifacts: 0,
      runs: 0,
      automations: 0,
    }
    assert.deepEqual(await projects(), {
      data: [
        { ...nothing, name: 'project', calls: 2, last_call_at: '2026-01-01T00:00:00.000000Z' },
        { ...nothing, name: 'Runs', runs: 1 },
        { ...nothing, name: 'other', object_versions: 1 },
      ],
      has_more: false,
    })
    const named = async (query: string) => (await projects(query)).data.map(({ name }) => name)
    assert.deepEqual(await named('?q=R'), ['project', 'Runs', 'other'])
    assert.deepEqual(await named('?q=rUn'), ['Runs'])
    // The team is no part of the name.
    assert.deepEqual(await named('?q=team-'), [])
    assert.deepEqual(await projects('?limit=1&q=r').then(({ has_more }) => has_more), true)
    for (const query of [`q=${'x'.repeat(129)}`, 'q=a&q=b', 'limit=0', 'limit=1001', 'limit=x', 'Q=a'])
      await refusedFor(`/api/teams/${team}/projects?${query}`, query.split('=')[0]!)
  })

  it('tell when something new can be read', async () => {
    const project = someProject()
    const positionNow = async () =>
      Number(accepted(await service.send('GET', `/api/pages/position?project_id=${project}`))['position'])
    await record(project, {})
    await rowsOf({ project_id: project })
    const before = await positionNow()
    await record(project, {})
    await rowsOf({ project_id: project })
    assert.ok((await positionNow()) > before)
  })
})
