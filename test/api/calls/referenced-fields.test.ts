import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { sharedService, someProject } from '../shared-service.js'
import type { SendOptions } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { accepted, reasonOf, textIn } from './given.js'

const field = (name: string) => ({ $getField: name })
const literal = (value: unknown) => ({ $literal: value })
const equals = (name: string, value: unknown) => ({ $eq: [field(name), literal(value)] })
const asNumber = (name: string) => ({ $convert: { input: field(name), to: 'double' } })

describe('fields behind references in calls', () => {
  let service: TestService
  let project: string

  const publish = async (object_id: string, val: unknown): Promise<string> => {
    const created = await service.in(project).objects.create(object_id, val).json()
    return `weave:///${project}/object/${object_id}:${textIn(created, 'digest')}`
  }
  const ids = async (expand_columns: readonly string[], operation: object, more: object = {}) =>
    (await service.in(project).calls.ids({ expand_columns, query: { $expr: operation }, ...more })).toSorted()
  const sorted = (
    expand_columns: readonly string[],
    name: string,
    direction: 'asc' | 'desc',
    more: object = {},
  ) => service.in(project).calls.ids({ expand_columns, sort_by: [{ field: name, direction }], ...more })

  before(async () => {
    service = await sharedService()
    project = someProject()
    const configs = [
      { model: 'gpt-4', temperature: 0.5, 'max.tokens': 10, nested: { on: true } },
      { model: 'claude', temperature: 2, tags: ['a', 'b'], id: 2 ** 53 - 1 },
    ]
    const [first, second] = [await publish('config', configs[0]), await publish('config', configs[1])]
    const workers = [
      await publish('worker', { name: 'one', config: first }),
      await publish('worker', { name: 'two', config: second }),
    ]
    const { calls, tables } = service.in(project)
    const table = await tables
      .create([
        { question: 'why', n: 1 },
        { question: 'how', n: 20 },
      ])
      .json()
    const rows = `weave:///${project}/object/data:${textIn(
      await service
        .in(project)
        .objects.create('data', {
          _type: 'Dataset',
          _class_name: 'Dataset',
          _bases: ['Object', 'BaseModel'],
          name: 'data',
          description: null,
          rows: `weave:///${project}/table/${textIn(table, 'digest')}`,
        })
        .json(),
      'digest',
    )}/attr/rows/id`
    const [why, how] = table['row_digests'].map((digest) => `${rows}/${digest}`)
    await calls
      .batch([
        { start: { id: 'a', inputs: { config: first, worker: workers[0], example: why } } },
        { end: { id: 'a', output: { config: second } } },
        { start: { id: 'b', inputs: { config: second, worker: workers[1], example: how } } },
        { end: { id: 'b', output: second } },
        { start: { id: 'inline', inputs: { config: { model: 'gpt-4', temperature: 1 } } } },
        { start: { id: 'none', inputs: { config: 'text' } } },
        { start: { id: 'gone', inputs: { config: `weave:///${project}/object/config:nowhere` } } },
      ])
      .json()
  })

  it('are of the value that the reference leads to, or of the value in its place', async () => {
    const expand = ['inputs.config']
    assert.deepEqual(await ids(expand, equals('inputs.config.model', 'gpt-4')), ['a', 'inline'])
    assert.deepEqual(await ids(expand, equals('inputs.config.model', 'claude')), ['b'])
    assert.deepEqual(await ids(expand, equals('inputs.config.nested.on', true)), ['a'])
    assert.deepEqual(await ids(expand, equals('inputs.config.max.tokens', 10)), ['a'])
    assert.deepEqual(await ids(expand, equals('inputs.config.max\\.tokens', 10)), ['a'])
    assert.deepEqual(await ids(expand, equals('inputs.config.id', 2 ** 53 - 1)), ['b'])
    assert.deepEqual(await ids(expand, equals('inputs.config.tags.1', 'b')), ['b'])
    assert.deepEqual(await ids(expand, equals('inputs.config.model', null)), ['gone', 'none'])
  })

  it('are nothing where the column is not expanded', async () => {
    assert.deepEqual(await ids([], equals('inputs.config.model', 'claude')), [])
    assert.deepEqual(await ids(['output'], equals('inputs.config.model', 'gpt-4')), ['inline'])
    const whole = await ids(['inputs.config'], {
      $contains: { input: field('inputs.config'), substr: literal('/config:') },
    })
    assert.deepEqual(whole, ['a', 'b', 'gone'])
  })

  it('are followed through references in what a reference leads to', async () => {
    const expand = ['inputs.worker', 'inputs.worker.config']
    for (const columns of [expand, expand.toReversed()]) {
      assert.deepEqual(await ids(columns, equals('inputs.worker.config.model', 'claude')), ['b'])
      assert.deepEqual(await ids(columns, equals('inputs.worker.name', 'one')), ['a'])
    }
    assert.deepEqual(await ids(['inputs.worker'], equals('inputs.worker.config.model', 'claude')), [])
  })

  it('are read in outputs and in rows of datasets', async () => {
    assert.deepEqual(await ids(['output'], equals('output.model', 'claude')), ['b'])
    assert.deepEqual(await ids(['output.config'], equals('output.config.model', 'claude')), ['a'])
    assert.deepEqual(await ids(['inputs.example'], equals('inputs.example.question', 'how')), ['b'])
    const dumped = equals('inputs_dump.example.question', 'how')
    assert.deepEqual(await ids(['inputs.example'], dumped), ['b'])
  })

  it('are operands of every operation', async () => {
    const expand = ['inputs.config', 'inputs.example']
    const [model, isGpt] = ['inputs.config.model', equals('inputs.config.model', 'gpt-4')]
    const above = { $gt: [asNumber('inputs.config.temperature'), literal(0.7)] }
    assert.deepEqual(await ids(expand, above), ['b', 'inline'])
    assert.deepEqual(await ids(expand, { $and: [isGpt, above] }), ['inline'])
    assert.deepEqual(await ids(expand, { $or: [equals('inputs.example.n', 20), isGpt] }), [
      'a',
      'b',
      'inline',
    ])
    assert.deepEqual(await ids(expand, { $not: [isGpt] }), ['b'])
    assert.deepEqual(await ids(expand, { $in: [field(model), [literal('claude'), literal('x')]] }), ['b'])
    const contains = { $contains: { input: field(model), substr: literal('GPT'), case_insensitive: true } }
    assert.deepEqual(await ids(expand, contains), ['a', 'inline'])
    const used = { $gte: [field('usage.total_tokens'), literal(0)] }
    assert.deepEqual(await ids(expand, { $and: [isGpt, used] }, { limit: 10 }), ['a', 'inline'])
    const started = { $and: [isGpt, equals('inputs.example', 'nothing')] }
    assert.deepEqual(await ids(expand, started), [])
  })

  it('sort calls, and count them', async () => {
    const [expand, temperature] = [['inputs.config'], 'inputs.config.temperature']
    assert.deepEqual((await sorted(expand, temperature, 'asc')).slice(0, 3), ['a', 'inline', 'b'])
    assert.deepEqual((await sorted(expand, temperature, 'desc')).slice(0, 3), ['b', 'inline', 'a'])
    assert.deepEqual(await sorted(expand, temperature, 'desc', { limit: 1, offset: 1 }), ['inline'])
    const query = { $expr: equals('inputs.config.model', 'gpt-4') }
    const counted = accepted(await service.in(project).calls.count({ expand_columns: expand, query }))
    assert.equal(counted['count'], 2)
    const values = await service.in(project).calls.query({ expand_columns: expand, query }).json()
    const models = (values['calls'] as readonly { inputs: { config: { model: string } } }[]).map(
      ({ inputs }) => inputs.config.model,
    )
    assert.deepEqual(models, ['gpt-4', 'gpt-4'])
  })

  it('are not read where the asker may not read', async () => {
    const team = `team-${randomUUID().slice(0, 8)}`
    const own = `${team}/project`
    const config = await publish('secret', { word: 'hidden' })
    await service.in(own).calls.start({ id: 'c', inputs: { config } }).json()
    const added = await service.post(`/api/teams/${team}/members`, { user: `u-${team}`, role: 'member' })
    const query = { $expr: equals('inputs.config.word', 'hidden') }
    const idsAs = async (options: SendOptions) =>
      service
        .with(options)
        .in(own)
        .calls.ids({ expand_columns: ['inputs.config'], query })
    assert.deepEqual(await idsAs({ key: textIn(accepted(added), 'api_key') }), [])
    assert.deepEqual(await idsAs({}), ['c'])
  })

  it('are refused where the calls have too many references', async () => {
    const many = someProject()
    const { calls } = service.in(many)
    const starts = Array.from({ length: 10_001 }, (_, index) => ({
      start: {
        id: `c${index}`,
        inputs: { config: `weave:///${many}/object/o:v${index}` },
        op_name: index > 9000 ? 'late' : 'early',
      },
    }))
    for (let from = 0; from < starts.length; from += 1000)
      await calls.batch(starts.slice(from, from + 1000)).json()
    const isGpt = equals('inputs.config.model', 'gpt-4')
    const ask = (operation: object) =>
      calls.query({ expand_columns: ['inputs.config'], query: { $expr: operation } })
    assert.match(reasonOf(await ask(isGpt), 413), /more than 10000 different references in inputs\.config/)
    accepted(await ask({ $and: [equals('op_name', 'late'), isGpt] }))
  })
})
