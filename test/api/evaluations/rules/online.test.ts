import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json, JsonObject } from '../../../../src/kernel/json/json.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { until } from '../../../support/until.js'
import { anAutomation, aWebhook } from '../../webhooks/given.js'
import { startSending, type Sending } from '../../webhooks/deliveries/given.js'
import { givenTeam } from '../../webhooks/given.js'
import { logRun, rescore, finishedStatus, scorerObject } from '../logged-run.js'
import { accepted, textIn } from '../../calls/given.js'

/** An HTTP scorer that gives the length of the output, and fails on the output `bad`. */
const startLengthScorer = async () => {
  const asked: JsonObject[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject
      asked.push(body)
      const { output } = body['arguments'] as { output: string }
      response.statusCode = output === 'bad' ? 400 : 200
      response.end(JSON.stringify({ score: { length: output.length } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    asked,
    url: `http://127.0.0.1:${port}/`,
    stop: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

describe('scoring calls as they end', () => {
  let sending: Sending
  let team: Awaited<ReturnType<typeof givenTeam>>
  let scorer: Awaited<ReturnType<typeof startLengthScorer>>
  let project: string
  let refs: readonly string[]
  before(async () => {
    sending = await startSending()
    team = await givenTeam(sending.service)
    scorer = await startLengthScorer()
    project = `${team.team}/project`
    accepted(
      await team.send('PUT', `/api/teams/${team.team}/secrets/SCORER`, {
        value: 'a secret of the scorer',
        used_for: ['scorers'],
      }),
    )
    const { service } = sending
    const { objects } = service.in(project)
    refs = [
      await objects.publish('exact', scorerObject('ExactMatchScorer')),
      await objects.publish('length', scorerObject('HTTPScorer', { url: scorer.url, secret: 'SCORER' })),
    ]
  })
  after(async () => {
    await sending.stop()
    await scorer.stop()
  })

  const createRule = async (more: object) =>
    textIn(
      accepted(
        await team.send('POST', `/api/evaluation-rules/${project}`, {
          name: 'rule',
          scorer_refs: refs,
          ...more,
        }),
      ),
      'id',
    )

  const endCall = async (op_name: string, output: Json, more: JsonObject = {}) => {
    const id = randomUUID()
    const { calls } = sending.service.in(project).with({ key: team.keys.team_administrator })
    await calls.start({ id, op_name, trace_id: id, inputs: { expected: 'Paris' }, ...more }).json()
    await calls.end(id, { output }).json()
    return id
  }

  const feedbackOn = async (callId: string) => {
    const $expr = { $eq: [{ $getField: 'weave_ref' }, { $literal: `weave:///${project}/call/${callId}` }] }
    const { result } = await sending.service.in(project).feedback.query({ query: { $expr } }).json()
    return new Map(result.map((one) => [one['feedback_type'] as string, one]))
  }

  /** Calls are scored in the order of their ends. */
  const scoredAfter = async (op: string) => {
    const marker = await endCall(op, 'Paris')
    await until(async () => (await feedbackOn(marker)).size === refs.length)
  }

  it('gives feedback on the calls that match, and fires automations on scores', async () => {
    const { received, url } = await sending.receiver(answers(204))
    const webhook = textIn(accepted(await team.postWebhook(aWebhook({ url: `${url}in` }))), 'id')
    const automation = textIn(
      accepted(
        await team.postAutomation(
          anAutomation(team.team, {
            webhook,
            payload: '{"call": "${call_id}", "what": "${metric_name}", "value": ${metric_value}}',
            event: {
              type: 'SCORE_THRESHOLD',
              scorer: 'length',
              score_path: 'length',
              comparison: '$lt',
              threshold: 5,
            },
          }),
        ),
      ),
      'id',
    )
    const earlier = await endCall('answer', 'Rome')
    await createRule({
      filter: {
        op_names: [`weave:///${project}/op/answer:*`],
        trace_roots_only: true,
        query: { $expr: { $eq: [{ $getField: 'inputs.expected' }, { $literal: 'Paris' }] } },
      },
    })
    const op = `weave:///${project}/op/answer:v1`
    const right = await endCall(op, 'Paris')
    const wrong = await endCall(op, 'Rome')
    const others = [
      await endCall('other', 'Rome'),
      await endCall(op, 'Rome', { inputs: { expected: 'Rome' } }),
      await endCall(op, 'Rome', { parent_id: right, trace_id: right }),
    ]
    await scoredAfter(op)

    const feedback = await feedbackOn(wrong)
    assert.deepEqual([...feedback].map(([type, { payload }]) => [type, payload]).toSorted(), [
      ['wandb.runnable.exact', { output: { exact_match: false } }],
      ['wandb.runnable.length', { output: { length: 4 } }],
    ])
    assert.deepEqual(
      [...feedback.values()].map(({ runnable_ref }) => runnable_ref).toSorted(),
      refs.toSorted(),
    )
    const exact = (await feedbackOn(right)).get('wandb.runnable.exact')
    assert.deepEqual(exact?.['payload'], { output: { exact_match: true } })
    for (const id of [earlier, ...others]) assert.equal((await feedbackOn(id)).size, 0)

    const read = await team.send('POST', '/calls/query', {
      project_id: project,
      filter: { call_ids: [wrong] },
      include_feedback: true,
    })
    const { calls } = accepted(read) as unknown as {
      calls: { summary: { weave: { feedback: JsonObject[] } } }[]
    }
    assert.equal(calls[0]?.summary.weave.feedback.length, 2)

    await until(() => received.length > 0)
    assert.deepEqual(
      received.map(({ body }) => JSON.parse(body.toString()) as Json),
      [{ call: wrong, what: 'length.length', value: 4 }],
    )
    const backtest = accepted(await team.send('POST', `/api/automations/${automation}/backtest`, {}))
    assert.equal((backtest['data'] as Json[]).length, 1, JSON.stringify(backtest))
  })

  it('scores a failing call with the scorers that do not fail, once', async () => {
    const rule = await createRule({ filter: { op_names: ['fails'] } })
    const id = await endCall('fails', 'bad')
    await scoredAfter('fails')
    assert.deepEqual([...(await feedbackOn(id)).keys()], ['wandb.runnable.exact'])
    assert.equal(scorer.asked.filter(({ call_id }) => call_id === id).length, 1)
    const warned = sending.service.logged.filter(
      (line) => line['event'] === 'evaluation.score_failed' && line['rule'] === rule,
    )
    assert.equal(
      warned.reduce((sum, { failed }) => sum + Number(failed), 0),
      1,
    )
  })

  it('leaves out evaluation runs, and calls of rules and their children', async () => {
    const rule = await createRule({ name: 'all', scorer_refs: refs })
    const key = { key: team.keys.team_administrator }
    const { id: run } = await logRun(
      sending.service,
      project,
      [{ example: { expected: 'Paris' }, output: 'Paris' }],
      key,
    )
    const rescored = await rescore(sending.service, project, run, [refs[0]!], key)
    await finishedStatus(sending.service, project, rescored.json<{ call_id: string }>().call_id, key)
    const marker = await endCall('anything', 'Paris')
    await until(async () => (await feedbackOn(marker)).size === 2)
    await scoredAfter('anything')
    const { result } = accepted(
      await team.send('POST', '/feedback/query', { project_id: project, limit: 1000 }),
    ) as unknown as { result: JsonObject[] }
    const scored = new Set(result.map((one) => (one['weave_ref'] as string).replace(/^.*\/call\//, '')))
    const calls = (await team.send('POST', '/calls/stream_query', { project_id: project })).text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { id: string; op_name: string })
    for (const { id, op_name } of calls.filter((call) => scored.has(call.id)))
      assert.ok(/anything|answer|fails/.test(op_name), `${id} ${op_name}`)
    accepted(await team.send('DELETE', `/api/evaluation-rules/${project}/${rule}`))
    const unscored = await endCall('anything', 'Paris')
    await scoredAfter('fails')
    assert.equal((await feedbackOn(unscored)).size, 0)
  })
})
