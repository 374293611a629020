import assert from 'node:assert/strict'
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js'
import { hangs } from '../../support/receivers/behaviours.js'
import { startTestService, type TestService } from '../../support/service.js'
import { usageOf, wholeOf } from '../../support/upstreams/behaviours.js'
import { startGateway, type Gateway } from '../../support/upstreams/gateway.js'
import { until } from '../../support/until.js'
import { callsOfTrace, finishedStatus, logRun, rescore, scorerObject } from './logged-run.js'
import { MODEL, scorerRef } from './requests.js'

const PROJECT = 'cancellers/project'
const ERROR = 'The evaluation run was canceled.'

describe('canceling an evaluation run', () => {
  let service: TestService
  let receiver: Receiver
  let gateway: Gateway
  let scorer: string
  let source: string

  before(async () => {
    service = await startTestService({ TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
    receiver = await startReceiver(hangs)
    gateway = await startGateway(service)
    const rows = Array.from({ length: 20 }, (_, index) => ({ example: { index }, output: index }))
    source = (await logRun(service, PROJECT, rows)).id
    const secret = await service.send('PUT', '/api/teams/cancellers/secrets/SIGNING', {
      value: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      used_for: ['scorers'],
    })
    assert.equal(secret.status, 200, secret.text)
    scorer = await service
      .in(PROJECT)
      .objects.publish('remote', scorerObject('HTTPScorer', { url: receiver.url, secret: 'SIGNING' }))
  })
  after(async () => {
    await service.stop()
    await receiver.stop()
    await gateway.upstream.close()
  })

  const cancel = (call_id: string, project_id = PROJECT) =>
    service.in(project_id).evaluations.cancel({ call_id })

  const hangingRun = async (): Promise<string> => {
    const before = receiver.received.length
    const answer = await rescore(service, PROJECT, source, [scorer])
    assert.equal(answer.status, 200, answer.text)
    await until(() => receiver.received.length > before)
    return answer.json<{ call_id: string }>().call_id
  }

  const assertCanceled = async (id: string) => {
    assert.deepEqual(await finishedStatus(service, PROJECT, id), { code: 'failed', error: ERROR })
    const calls = await callsOfTrace(service, PROJECT, id)
    const [root] = calls.filter(({ parent_id }) => parent_id === null)
    assert.equal(root!.exception, ERROR)
    const open = calls.filter(({ ended_at }) => ended_at === null).map(({ op_name }) => op_name)
    assert.deepEqual(open, [])
  }

  it('ends the run and its calls, and makes no further requests', async () => {
    const id = await hangingRun()
    assert.equal((await cancel(id)).status, 200)
    await assertCanceled(id)
    const { length } = receiver.received
    await finishedStatus(service, PROJECT, id)
    await until(() => receiver.open() === 0)
    assert.equal(receiver.received.length, length)
  })

  it('changes nothing when it is repeated', async () => {
    const id = await hangingRun()
    assert.deepEqual([(await cancel(id)).status, (await cancel(id)).status], [200, 200])
    await assertCanceled(id)
    assert.equal((await cancel(id)).status, 200)
    await assertCanceled(id)
  })

  it('ends a run that has not started yet', async () => {
    const runs = []
    for (let index = 0; index < 6; index += 1)
      runs.push((await rescore(service, PROJECT, source, [scorer])).json<{ call_id: string }>().call_id)
    for (const id of runs.toReversed()) assert.equal((await cancel(id)).status, 200)
    for (const id of runs)
      assert.deepEqual(await finishedStatus(service, PROJECT, id), { code: 'failed', error: ERROR })
  })

  it('ends a run whose model does not answer', async () => {
    gateway.upstream.behave(() => undefined)
    const table = await service.in(PROJECT).tables.create([{ user_input: 'a' }, { user_input: 'b' }])
    const { digest } = table.json<{ digest: string }>()
    const { objects } = service.in(PROJECT)
    const dataset = await objects.publish('rows', { rows: `weave:///${PROJECT}/table/${digest}` })
    const answer = await service
      .in(PROJECT)
      .evaluations.evaluateModel({
        evaluation_ref: await objects.publish('letters', { dataset }),
        model_ref: await objects.publish('model', { llm_model_id: gateway.model }),
      })
    const { call_id } = answer.json<{ call_id: string }>()
    await until(() => gateway.upstream.arrivals.length === 2)
    assert.equal((await cancel(call_id)).status, 200)
    assert.deepEqual(await finishedStatus(service, PROJECT, call_id), { code: 'failed', error: ERROR })
    await Promise.all(gateway.upstream.arrivals.map(({ left }) => left))
    await until(async () =>
      (await callsOfTrace(service, PROJECT, call_id)).every(({ ended_at }) => ended_at !== null),
    )
    await assertCanceled(call_id)
    gateway.upstream.behave((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(wholeOf('chat-1', 'x', usageOf(1, 1))))
    })
  })

  it('is the only way to end it early', async () => {
    const id = await hangingRun()
    const finish = await service.post(`/v2/${PROJECT}/evaluation_runs/${id}/finish`, { summary: { a: 1 } })
    assert.equal(finish.status, 409, finish.text)
    assert.equal((await cancel(id)).status, 200)
    await assertCanceled(id)
  })

  it('is needed before a client may write to the run', async () => {
    const id = await hangingRun()
    const calls = await callsOfTrace(service, PROJECT, id)
    const prediction = calls.find(({ op_name }) => op_name.includes('Model.predict'))!.id
    const attempts = [
      ['predictions', { model: MODEL, inputs: {}, output: 1, evaluation_run_id: id }],
      ['scores', { prediction_id: prediction, scorer: scorerRef('other'), value: 1 }],
      [`predictions/${prediction}/finish`, {}],
    ] as const
    for (const [path, body] of attempts) {
      const { status, text } = await service.post(`/v2/${PROJECT}/${path}`, body)
      assert.equal(status, 409, `${path}: ${text}`)
    }
    assert.equal((await cancel(id)).status, 200)
    await assertCanceled(id)
  })

  it('follows from deleting the run', async () => {
    const id = await hangingRun()
    const deleted = await service.send('DELETE', `/v2/${PROJECT}/evaluation_runs?evaluation_run_ids=${id}`)
    assert.equal(deleted.status, 200, deleted.text)
    assert.deepEqual(await finishedStatus(service, PROJECT, id), { code: 'failed', error: ERROR })
    await until(() => receiver.open() === 0)
    assert.deepEqual(await callsOfTrace(service, PROJECT, id), [])
  })

  it('is a 409 when the run has finished, and a 404 when the run is unknown', async () => {
    const exact = await service.in(PROJECT).objects.publish('exact', scorerObject('ExactMatchScorer'))
    const finished = (await rescore(service, PROJECT, source, [exact])).json<{ call_id: string }>().call_id
    assert.equal((await finishedStatus(service, PROJECT, finished)).code, 'complete')
    assert.equal((await cancel(finished)).status, 409)
    assert.equal((await cancel(source)).status, 404, 'a run that a client logs')
    const unknown = await cancel('unknown')
    assert.equal(unknown.status, 404)
    const foreign = await cancel(finished, 'cancellers/other')
    assert.deepEqual([foreign.status, foreign.text], [404, unknown.text])
  })
})
