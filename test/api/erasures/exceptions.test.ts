import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { startTestService, type TestService } from '../../support/service.js'
import { until } from '../../support/until.js'
import { accepted } from '../calls/given.js'

const PROJECT = 'default/exceptions'
const SETTINGS = `/api/projects/${PROJECT}`
const EXCEPTIONS = ['with_feedback', 'in_datasets', 'in_annotation_queues', 'in_evaluations'] as const

/** Each call is kept by one exception, `queued` and `discussed` by none any more. */
const KEPT_BY = {
  rated: 'with_feedback',
  row: 'in_datasets',
  inline: 'in_datasets',
  reviewed: 'in_annotation_queues',
  run: 'in_evaluations',
  predicted: 'in_evaluations',
  scored: 'in_evaluations',
} as const
const UNPROTECTED = ['plain', 'marked', 'discussed', 'queued', 'dropped']

describe('the exceptions of a retention', () => {
  let service: TestService
  const client = () => service.in(PROJECT)
  const ref = (id: string) => `weave:///${PROJECT}/call/${id}`

  before(async () => {
    service = await startTestService()
    const attributes = (id: string) =>
      id === 'marked'
        ? { tallytree: { erased: true } }
        : id === 'scored'
          ? { weave: { score: 'true', evaluation_run_id: 'run' } }
          : {}
    await client()
      .calls.complete(
        [...Object.keys(KEPT_BY), ...UNPROTECTED].map((id) => ({
          ...{ id, trace_id: `trace of ${id}`, output: id, attributes: attributes(id) },
          ...(id === 'run' && { op_name: `weave:///${PROJECT}/op/Evaluation.evaluate:v1` }),
          ...(id === 'predicted' && { trace_id: 'trace of run', parent_id: 'run' }),
        })),
      )
      .json()
    const give = (id: string) =>
      client()
        .feedback.create({ weave_ref: ref(id), feedback_type: 'wandb.note.1', payload: { note: 'good' } })
        .json()
    await give('rated')
    const { id } = await give('discussed')
    await client()
      .feedback.purge({ query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } } })
      .json()
    const publish = async (name: string, row: string) => {
      const { digest } = await client()
        .tables.create([{ source: { call: `${ref(row)}/attr/output` } }])
        .json()
      const rows = `weave:///${PROJECT}/table/${digest}`
      return client()
        .objects.create(name, {
          _type: 'Dataset',
          _class_name: 'Dataset',
          _bases: ['Object', 'BaseModel'],
          rows,
        })
        .json()
    }
    await publish('examples', 'row')
    await publish('former', 'dropped')
    await client().objects.delete({ object_id: 'former' }).json()
    await client()
      .objects.create('inline', {
        ...{ _type: 'Dataset', _class_name: 'Dataset', _bases: ['Object', 'BaseModel'] },
        rows: [{ call: ref('inline') }],
      })
      .json()
    await client()
      .queues.add(await client().queues.create('review'), 'reviewed')
      .json()
    const former = await client().queues.create('former')
    await client().queues.add(former, 'queued').json()
    accepted(await service.send('DELETE', `/annotation_queues/${former}?project_id=${PROJECT}`))
  })
  after(() => service.stop())

  const preview = async (except: readonly string[]): Promise<unknown> => {
    const { preview: found } = accepted(
      await service.post(`${SETTINGS}/erasures`, {
        ...{ selection: { filter: {}, except }, reason: 'preview', dry_run: true },
      }),
    )
    return (found as JsonObject)['calls']
  }
  const ALL = Object.keys(KEPT_BY).length + UNPROTECTED.length

  for (const exception of EXCEPTIONS)
    it(`leaves out the calls ${exception} in a preview`, async () => {
      const kept = Object.values(KEPT_BY).filter((one) => one === exception).length
      assert.equal(await preview([exception]), ALL - kept)
    })

  it('refuses an unknown exception by name', async () => {
    const answer = await service.send('PUT', SETTINGS, { retention: { content_days: 1, except: ['others'] } })
    assert.equal(answer.status, 422)
    assert.match(answer.text, /"except",0|"except","0"/)
  })

  it('keeps the content of these calls, but of no others, such as one whose client marked it as erased', async () => {
    const retention = { content_days: 30, except: [...EXCEPTIONS], figures_days: 0 }
    assert.deepEqual(accepted(await service.send('PUT', SETTINGS, { retention }))['retention'], retention)
    await until(async () => {
      const { data } = accepted(await service.send('GET', `${SETTINGS}/erasures`))
      return (data as readonly JsonObject[])[0]?.['state'] === 'finished'
    })
    for (const id of Object.keys(KEPT_BY)) assert.equal((await client().calls.read(id)).output, id)
    for (const id of UNPROTECTED) assert.equal((await client().calls.read(id)).output, null, id)
    assert.equal(await preview(['erased']), Object.keys(KEPT_BY).length)
  })

  it('keeps its exceptions when only the days change, and erases what is no longer one', async () => {
    const { retention } = accepted(await service.send('PUT', SETTINGS, { retention: { content_days: 20 } }))
    assert.deepEqual(retention, { content_days: 20, except: [...EXCEPTIONS], figures_days: 0 })
    accepted(
      await service.send('PUT', SETTINGS, { retention: { content_days: 20, except: ['in_datasets'] } }),
    )
    await until(async () => (await client().calls.read('run')).output === null)
    assert.equal((await client().calls.read('row')).output, 'row')
  })
})
