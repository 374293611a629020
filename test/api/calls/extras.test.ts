import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import type { SendOptions } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { anEnd, aStart, endItem, startItem } from '../../support/call-requests.js'
import { accepted, textIn, told } from './given.js'

type Payload = 'inputs' | 'output' | 'summary'

const bytesOf = (...payload: readonly unknown[]): number =>
  payload.reduce<number>((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0)

describe('what calls say beside themselves', () => {
  let service: TestService
  let project: string
  const inputs = { text: 'é', long: 'x'.repeat(100) }

  before(async () => {
    service = await sharedService()
    project = someProject()
    await service
      .in(project)
      .calls.batch([
        { start: { id: 'root', inputs } },
        { start: { id: 'child', parent_id: 'root', trace_id: 'root', inputs } },
        { start: { id: 'elsewhere', parent_id: 'root', trace_id: 'other' } },
        { end: { id: 'child', output: inputs, summary: { a: 1 } } },
      ])
      .json()
  })

  const read = async (more: object): Promise<Readonly<Record<string, Readonly<Record<string, unknown>>>>> => {
    const answer = await service.in(project).calls.query(more).json()
    const calls = answer['calls'] as readonly { readonly id: string }[]
    return Object.fromEntries(calls.map((call) => [call.id, call as never]))
  }

  const root = bytesOf(inputs, {})
  const child = bytesOf(inputs, {}, inputs, { a: 1 })
  const elsewhere = bytesOf({}, {})

  it('is the bytes of their payload, and for roots those of the trace', async () => {
    const calls = await read({ include_storage_size: true, include_total_storage_size: true })
    const sizes = Object.entries(calls).map(([id, call]) => [
      id,
      call['storage_size_bytes'],
      call['total_storage_size_bytes'],
    ])
    assert.deepEqual(sizes, [
      ['child', child, null],
      ['elsewhere', elsewhere, null],
      ['root', root, root + child],
    ])
    const one = await service.post('/call/read', {
      project_id: project,
      id: 'root',
      include_total_storage_size: true,
    })
    assert.equal(JSON.parse(one.text).call.total_storage_size_bytes, root + child)
    assert.ok(!('storage_size_bytes' in JSON.parse(one.text).call))
  })

  it('is the bytes of all that a query counts', async () => {
    const ask = (more: object) =>
      service.in(project).calls.count({ include_total_storage_size: true, ...more })
    assert.equal(accepted(await ask({}))['total_storage_size_bytes'], root + child + elsewhere)
    const filter = { call_ids: ['child'] }
    assert.equal(accepted(await ask({ filter }))['total_storage_size_bytes'], child)
  })

  it('is who wrote them, by name', async () => {
    assert.equal((await read({ include_usernames: true }))['root']!['wb_username'], 'admin')
    assert.ok(!('wb_username' in (await read({}))['root']!))
  })
})

describe('references in calls', () => {
  let service: TestService
  let project: string
  let object: string
  let row: string
  const value = { name: 'gpt', nested: { list: [1, 2] } }

  before(async () => {
    service = await sharedService()
    project = someProject()
    const publish = async (val: unknown, object_id: string) => {
      const created = await service.in(project).objects.create(object_id, val).json()
      return `weave:///${project}/object/${object_id}:${textIn(created, 'digest')}`
    }
    const inner = await publish(value, 'inner')
    object = await publish({ inner, plain: 1 }, 'outer')
    row = `${object}/attr/plain`
    const start = aStart(project, {
      id: 'c',
      inputs: {
        model: object,
        list: [object, 'text'],
        row,
        gone: `weave:///${project}/object/gone:v1`,
        n: 5,
      },
      attributes: { __proto__x: object },
    })
    const end = anEnd(project, 'c', { output: object, summary: { ref: object } })
    accepted(await service.post('/call/upsert_batch', { batch: [startItem(start), endItem(end)] }))
    assert.notEqual(inner, object)
  })

  const read = async (expand_columns: readonly string[], more: object = {}) => {
    const answer = await service.in(project).calls.query({ expand_columns, ...more })
    return (
      accepted(answer)['calls'] as readonly Readonly<Record<Payload, Readonly<Record<string, unknown>>>>[]
    )[0]!
  }

  it('are followed in the columns that are named, and say what they were', async () => {
    const whole = await service.in(project).calls.read('c')
    const { inputs, output, summary } = await read(['inputs.model', 'inputs.row', 'output', 'summary.ref'])
    const outer = { inner: `weave:///${project}/object/inner:`, plain: 1, _ref: object }
    const model = inputs['model'] as { inner: string }
    assert.ok(model.inner.startsWith(outer.inner))
    assert.deepEqual({ ...model, inner: '' }, { ...outer, inner: '' })
    assert.deepEqual(inputs, { ...whole.inputs, model, row: 1 })
    assert.deepEqual(output, model)
    assert.deepEqual(summary, { ...whole.summary, ref: model })
  })

  it('are followed further within what they led to, and in lists', async () => {
    const { inputs } = await read(['inputs.model.inner', 'inputs.model', 'inputs.list.0'])
    const model = inputs['model'] as { inner: { _ref: string } }
    assert.deepEqual({ ...model.inner, _ref: '' }, { ...value, _ref: '' })
    assert.equal((inputs['list'] as readonly { plain: number }[])[0]!.plain, 1)
  })

  it('stay as they are where they lead nowhere, where there is none, and where nobody wants their values', async () => {
    const whole = await service.in(project).calls.read('c')
    const odd = [
      'inputs.gone',
      'inputs.n',
      'inputs',
      'nothing',
      'id',
      'inputs.__proto__',
      'output.x',
      'inputs.list.7',
    ]
    assert.deepEqual(await read(odd), whole)
    assert.deepEqual(await read(['inputs.model'], { return_expanded_column_values: false }), whole)
  })

  it('are not followed to where the asker may not read', async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    const own = `${team}/project`
    await service
      .in(own)
      .calls.start({ id: 'c', inputs: { model: object } })
      .json()
    const added = await service.post(`/api/teams/${team}/members`, { user: `u-${team}`, role: 'member' })
    const inputsAs = async (options: SendOptions) => {
      const body = { project_id: own, expand_columns: ['inputs.model'] }
      const [call] = accepted(await service.post('/calls/query', body, options))['calls'] as JsonObject[]
      return call!['inputs'] as JsonObject
    }
    assert.deepEqual(await inputsAs({ key: textIn(accepted(added), 'api_key') }), { model: object })
    assert.notDeepEqual(await inputsAs({}), { model: object })
  })

  it('are followed in at most 32 columns', async () => {
    const expand_columns = Array.from({ length: 33 }, (_, i) => `inputs.${i}`)
    assert.deepEqual(told(await service.in(project).calls.query({ expand_columns })), [
      'too_long expand_columns',
    ])
  })
})
