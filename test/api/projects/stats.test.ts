import assert from 'node:assert/strict'
import { accepted, reasonOf, told } from '../calls/given.js'
import { sharedService, someProject } from '../shared-service.js'

const FLAGS = ['trace', 'object', 'table', 'file'].map((kind) => `include_${kind}_storage_size`)
const KINDS = ['trace', 'objects', 'tables', 'files'].map((kind) => `${kind}_storage_size_bytes`)

describe('the bytes that a project stores', () => {
  it('are those of its calls, objects, rows of tables and files', async () => {
    const service = await sharedService()
    const project = someProject()
    const client = service.in(project)
    const stats = async (more: object = {}, of = client) =>
      accepted(await of.post('/project/stats', { project_id: project, ...more }))
    const sizes = async (more: object = {}) => {
      const answer = await stats(more)
      return KINDS.map((kind) => answer[kind])
    }
    await service.teams.create(project.split('/')[0]!)
    assert.deepEqual(await sizes(), [0, 0, 0, 0])
    await client.calls.complete([{ id: 'c', inputs: { a: 1 }, output: 'x' }, { id: 'd' }])
    await client.objects.publish('o', { a: 1 })
    for (let i = 0; i < 2; i += 1) await client.tables.create([{ a: 1 }, { b: 2 }]).json()
    for (const content of ['hello', 'hello', 'you']) {
      const form =
        `--x\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n${project}\r\n` +
        `--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${content}\r\n--x--\r\n`
      const headers = { 'content-type': 'multipart/form-data; boundary=x' }
      accepted(await service.post('/file/create', form, { headers }))
    }
    const trace = (await client.calls.count({ include_total_storage_size: true }).json())
      .total_storage_size_bytes as number
    assert.ok(trace > 0)
    assert.deepEqual(await sizes(), [trace, 7, 14, 8])
    const flags = Object.fromEntries(FLAGS.map((flag) => [flag, false]))
    for (const [index, flag] of FLAGS.entries())
      assert.deepEqual(
        await sizes({ ...flags, [flag]: true }),
        [trace, 7, 14, 8].map((bytes, at) => (at === index ? bytes : 0)),
      )
    for (const path of ['/files/stats', '/files/query_stats'])
      assert.deepEqual(accepted(await client.post(path, { project_id: project })), { total_size_bytes: 8 })
    await client.objects.delete({ object_id: 'o' })
    await client.calls.delete('c').json()
    const after = await sizes()
    assert.ok((after[0] as number) < trace)
    assert.deepEqual(after.slice(1), [0, 14, 8])
    reasonOf(await client.post('/project/stats', { project_id: project, ...flags }), 400)
    assert.deepEqual(told(await client.post('/project/stats', { project_id: project, include_all: true })), [
      'extra_forbidden include_all',
    ])
  })

  it('are not shown to other teams', async () => {
    const service = await sharedService()
    const project = someProject()
    await service.in(project).objects.publish('o', { a: 1 })
    const team = someProject().split('/')[0]!
    await service.teams.create(team)
    const key = await service.teams.keyOf(team, `u-${team}`, 'member')
    for (const path of ['/project/stats', '/files/stats', '/files/query_stats'])
      reasonOf(await service.post(path, { project_id: project }, { key }), 404)
  })
})
