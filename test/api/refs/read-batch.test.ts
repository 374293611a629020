import assert from 'node:assert/strict'
import { startTestService, type TestService } from '../../support/service.js'

const project_id = 'team/refs'
const started = { op_name: 'answer', started_at: '2026-01-01T00:00:00Z', attributes: {} }

describe('/refs/read_batch', () => {
  let service: TestService
  let table: string
  let rows: readonly string[]
  let dataset: string

  const read = async (refs: readonly string[], key?: string) => {
    const answer = await service.post('/refs/read_batch', { refs }, key === undefined ? {} : { key })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ vals: unknown[] }>().vals
  }
  const publish = async (object_id: string, val: unknown, project = project_id) => {
    const answer = await service.in(project).objects.create(object_id, val)
    assert.equal(answer.status, 200, answer.text)
    return `weave:///${project}/object/${object_id}:${answer.json<{ digest: string }>().digest}`
  }
  const createTable = async (content: readonly unknown[]) => {
    const answer = await service.in(project_id).tables.create(content)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ digest: string; row_digests: string[] }>()
  }

  before(async () => {
    service = await startTestService()
    const made = await createTable([{ q: 'one', parts: [1, { deep: 'x' }] }, { q: 'two' }])
    table = `weave:///${project_id}/table/${made.digest}`
    rows = made.row_digests
    dataset = await publish('my-ds', { name: 'my-ds', rows: table, 'a/b c': [10, 20] })
  })
  after(() => service.stop())

  it('answers objects, and what their edges lead to', async () => {
    assert.deepEqual(
      await read([
        dataset,
        `${dataset}/attr/name`,
        `${dataset}/key/a%2Fb%20c/index/1`,
        `${dataset}/attr/rows`,
      ]),
      [{ name: 'my-ds', rows: table, 'a/b c': [10, 20] }, 'my-ds', 20, table],
    )
  })

  it('answers rows of tables by digest and by index, alone and through an object', async () => {
    const first = { q: 'one', parts: [1, { deep: 'x' }] }
    assert.deepEqual(
      await read([
        `${table}/id/${rows[1]}`,
        `${table}/index/0`,
        `${dataset}/attr/rows/id/${rows[0]}`,
        `${dataset}/attr/rows/id/${rows[0]}/key/parts/index/1/key/deep`,
        `${dataset}/attr/rows/index/1/key/q`,
      ]),
      [{ q: 'two' }, first, first, 'x', 'two'],
    )
  })

  it('answers calls, and goes on from the references in them', async () => {
    const start = {
      ...started,
      project_id,
      id: 'c1',
      inputs: { example: `${dataset}/attr/rows/id/${rows[1]}` },
    }
    assert.equal((await service.post('/call/start', { start })).status, 200)
    const call = `weave:///${project_id}/call/c1`
    const [whole, ...values] = await read([
      call,
      `${call}/attr/inputs/key/example`,
      `${call}/attr/inputs/key/example/key/q`,
    ])
    assert.equal((whole as { id: string }).id, 'c1')
    assert.deepEqual(values, [start.inputs.example, 'two'])
  })

  it('answers versions by name', async () => {
    const named = (version: string) => `weave:///${project_id}/object/my-ds:${version}/attr/name`
    assert.deepEqual(await read([named('latest'), named('v0')]), ['my-ds', 'my-ds'])
  })

  it('answers null in its place for what leads nowhere', async () => {
    const ring = await publish('ring', { next: `weave:///${project_id}/object/ring:latest` })
    const nowhere = [
      `weave:///${project_id}/object/my-ds:unknown`,
      `weave:///${project_id}/call/unknown`,
      `${table}/id/unknown`,
      `${table}/index/2`,
      `${table}/index/-1`,
      table,
      `${dataset}/attr/unknown`,
      `${dataset}/attr/rows/id/unknown/key/q`,
      `${dataset}/attr/name/key/x`,
      `${ring}${'/attr/next'.repeat(40)}`,
    ]
    assert.deepEqual(await read([...nowhere, `${dataset}/attr/name`]), [...nowhere.map(() => null), 'my-ds'])
  })

  it('refuses what is no reference, and names its place', async () => {
    for (const text of [
      'not a ref',
      '',
      `${dataset}/key/mali:cious/ke%y`,
      `${dataset}/attr`,
      `${dataset}/member/name`,
      `weave:///${project_id}/object/my-ds`,
      `weave:///${project_id}/thing/x:v0`,
      'weave:///team/a:b/call/x',
    ]) {
      const refused = await service.post('/refs/read_batch', { refs: [dataset, text] })
      assert.equal(refused.status, 400, text)
      assert.match(refused.text, /refs\[1\] is not a reference/)
    }
  })

  it('answers null where the key has no access, also behind a reference of its own', async () => {
    const theirs = await publish('theirs', { secret: 'x' }, 'others/hidden')
    const member = await service.post('/api/teams/team/members', { user: 'mia', role: 'member' })
    const { api_key } = member.json<{ api_key: string }>()
    const behind = `${await publish('mine', { link: theirs })}/attr/link/attr/secret`
    assert.deepEqual(await read([theirs, `${theirs}/attr/secret`, behind], api_key), [null, null, null])
    assert.deepEqual(await read([behind]), ['x'])
  })

  it('reads what was written just before, a thousand at once and no more', async () => {
    const refs = await Promise.all(Array.from({ length: 20 }, (_, n) => publish(`n${n}`, { n })))
    const many = Array.from({ length: 1000 }, (_, at) => `${refs[at % 20]}/attr/n`)
    const expected = many.map((_, at) => at % 20)
    assert.deepEqual(await read(many), expected)
    const answer = await service.post('/refs/read_batch', { refs: [...many, refs[0]] })
    assert.equal(answer.status, 400)
    assert.match(answer.json<{ reason: string }>().reason, /1000/)
    assert.deepEqual(await read([]), [])
  })
})
