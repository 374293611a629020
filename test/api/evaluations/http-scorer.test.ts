import assert from 'node:assert/strict'
import { hkdfSync } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { hmacSha256 } from '../../../src/adapters/system/system.js'
import type { JsonObject } from '../../../src/kernel/json/json.js'
import { after as later, answers, dependingOn, inTurn } from '../../support/receivers/behaviours.js'
import {
  startReceiver,
  type Behaviour,
  type Received,
  type Receiver,
} from '../../support/receivers/receiver.js'
import { startTestService, type TestService } from '../../support/service.js'
import { someProject } from '../shared-service.js'
import { callsOfTrace, finishedStatus, logRun, rescore, scorerObject, type Call } from './logged-run.js'

const SECRET = 'whsec_c2lnbmluZy1rZXktb2YtdGhlLXRlc3Q='
/** As the page about evaluations says. */
const DERIVED = `whsec_${Buffer.from(
  hkdfSync('sha256', Buffer.from(SECRET.slice(6), 'base64'), '', 'tallytree http-scorer v1', 32),
).toString('base64')}`
const ROWS = [
  { example: { country: 'France', expected: 'Paris' }, output: 'Paris' },
  { example: { country: 'Japan', expected: 'Tokyo' }, output: 'tokyo' },
  { example: { country: 'Peru', expected: 'Lima' }, output: 'Quito' },
]

const argumentsOf = ({ body }: Received): JsonObject =>
  (JSON.parse(body.toString()) as { arguments: JsonObject }).arguments

/** Compares the output with the expected answer. */
const comparing = dependingOn((received) => {
  const { output, expected } = argumentsOf(received)
  return answers(200, {}, JSON.stringify({ score: { same: output === expected } }))
})

describe('rescoring with an HTTP scorer', () => {
  let service: TestService
  let receiver: Receiver
  let project: string
  let source: string
  before(async () => {
    service = await startTestService({ TALLYTREE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' })
    receiver = await startReceiver(comparing)
    project = someProject()
    source = (await logRun(service, project, ROWS)).id
    await giveSecret(project)
  })
  after(async () => {
    await service.stop()
    await receiver.stop()
  })

  const giveSecret = async (of: string) => {
    const path = `/api/teams/${of.split('/')[0]!}/secrets/SIGNING_KEY`
    const answer = await service.send('PUT', path, { value: SECRET, used_for: ['scorers'] })
    assert.equal(answer.status, 200, answer.text)
  }

  const run = async (behaviour: Behaviour, fields: JsonObject = {}, of = project, sourceRun = source) => {
    receiver.behave(behaviour)
    const from = receiver.received.length
    const object = scorerObject('HTTPScorer', { url: receiver.url, secret: 'SIGNING_KEY', ...fields })
    const answer = await rescore(service, of, sourceRun, [
      await service.in(of).objects.publish('remote', object),
    ])
    assert.equal(answer.status, 200, answer.text)
    const { call_id: id } = answer.json<{ call_id: string }>()
    const status = await finishedStatus(service, of, id)
    assert.equal(status.code, 'complete', JSON.stringify(status))
    const calls = await callsOfTrace(service, of, id)
    return {
      id,
      calls,
      requests: receiver.received.slice(from),
      summary: (status['output'] as JsonObject)['remote'],
      warnings: status['warnings'],
      scorers: calls.filter(({ op_name }) => op_name.includes('remote.score')),
    }
  }

  it('posts each row once, signed, and records the scores', async () => {
    const { id, calls, requests, summary, warnings, scorers } = await run(comparing)
    assert.deepEqual(
      [summary, warnings],
      [{ same: { count: 3, true_count: 1, true_fraction: 1 / 3, row_count: 3 } }, []],
    )
    assert.deepEqual(
      requests.map(({ headers }) => headers['webhook-id']).toSorted(),
      scorers.map((call) => call.id).toSorted(),
    )
    const rows = new Map(calls.map((call) => [call.id, call]))
    for (const { headers, body } of requests) {
      new Webhook(DERIVED).verify(body.toString(), headers)
      assert.throws(() => new Webhook(SECRET).verify(body.toString(), headers))
      const key = new TextEncoder().encode(DERIVED)
      const vendors = Object.keys(headers).filter((name) => /^x-.*-signature$/.test(name))
      assert.equal(headers[vendors[0]!], hmacSha256(key, body, 'hex'))
      const {
        call_id,
        arguments: given,
        ...rest
      } = JSON.parse(body.toString()) as JsonObject & { readonly call_id: string }
      assert.deepEqual(rest, { scorer: 'remote', project_id: project, evaluation_run_id: id })
      const { example } = rows.get(call_id)!.inputs as { example: JsonObject }
      const { output } = rows.get(call_id)!.output as JsonObject
      assert.deepEqual(given, { inputs: example, ...example, output })
    }
  })

  it('retries after a failure, marked as a possible duplicate', async () => {
    const { requests, warnings } = await run(inTurn(answers(500), comparing), { max_concurrency: 1 })
    assert.deepEqual(warnings, [])
    assert.equal(requests.length, 4)
    const ids = requests.map(({ headers }) => headers['webhook-id'])
    const marks = requests.map(
      ({ headers }) => Object.keys(headers).filter((name) => name.endsWith('possible-duplicate')).length,
    )
    assert.equal(ids[0], ids[1])
    assert.deepEqual(marks, [0, 1, 0, 0])
  })

  it('keeps to the concurrency of the scorer', async () => {
    let [open, most] = [0, 0]
    const counting: Behaviour = (socket, received) => {
      open += 1
      most = Math.max(most, open)
      later(20, (again) => {
        open -= 1
        comparing(again, received)
      })(socket, received)
    }
    await run(counting, { max_concurrency: 2 })
    assert.equal(most, 2)
  })

  const failures: readonly (readonly [string, Behaviour, JsonObject, RegExp])[] = [
    ['is not found', answers(404), {}, /answered status 404/],
    [
      'answers with the wrong type',
      answers(200, {}, '{"result": 1}'),
      {},
      /an object with the member "score"/,
    ],
    ['answers with text', answers(200, {}, 'fine'), {}, /is not JSON/],
    ['has a secret that the team does not have', comparing, { secret: 'OTHER' }, /no secret named OTHER/],
    [
      'is at a forbidden address',
      comparing,
      { url: 'http://10.0.0.1/' },
      /address that the operator does not/,
    ],
  ]
  for (const [what, behaviour, fields, reason] of failures)
    it(`gives null and a warning where the scorer ${what}`, async () => {
      const { scorers, warnings, summary, calls } = await run(behaviour, fields)
      const [warning] = warnings as string[]
      assert.match(warning!, /^scorer remote gave no score for 3 of 3 rows: /)
      assert.match(warning!, reason)
      assert.deepEqual(summary, { none_count: 3, row_count: 3 })
      for (const { output, exception } of scorers) {
        assert.equal(output, null)
        assert.match(exception!, reason)
      }
      assert.deepEqual(scoresIn(calls), [null, null, null])
    })

  it('gives null only for the rows that fail', async () => {
    const { calls, warnings, summary } = await run(
      dependingOn((received) => (argumentsOf(received)['country'] === 'Japan' ? answers(400) : comparing)),
    )
    assert.deepEqual(scoresIn(calls), [{ same: true }, null, { same: false }])
    assert.deepEqual(warnings, [
      'scorer remote gave no score for 1 of 3 rows: the scorer answered status 400',
    ])
    assert.deepEqual(summary, {
      none_count: 1,
      same: { count: 2, true_count: 1, true_fraction: 1 / 3, none_count: 1, row_count: 3 },
    })
  })

  it('sends nothing with a secret that is not for scorers', async () => {
    const path = `/api/teams/${project.split('/')[0]!}/secrets/OF_WEBHOOKS`
    assert.equal((await service.send('PUT', path, { value: SECRET })).status, 200)
    const { warnings, requests } = await run(comparing, { secret: 'OF_WEBHOOKS' })
    assert.match(JSON.stringify(warnings), /OF_WEBHOOKS is for webhooks and upstreams only.*used_for/)
    assert.equal(requests.length, 0)
    assert.equal((await service.send('PATCH', path, { used_for: ['webhooks', 'scorers'] })).status, 200)
    assert.deepEqual((await run(comparing, { secret: 'OF_WEBHOOKS' })).warnings, [])
    assert.equal((await service.send('PATCH', path, { used_for: ['webhooks'] })).status, 200)
    assert.equal((await run(comparing, { secret: 'OF_WEBHOOKS' })).requests.length, 0)
  })

  it('signs with the secret of the team of the run only', async () => {
    const other = someProject()
    const logged = await logRun(service, other, ROWS.slice(0, 1))
    const { warnings, requests } = await run(comparing, {}, other, logged.id)
    assert.match(JSON.stringify(warnings), /the team has no secret named SIGNING_KEY/)
    assert.equal(requests.length, 0)
  })

  it('shows the secret nowhere', async () => {
    const { calls } = await run(answers(400))
    assert.ok(!JSON.stringify([calls, service.logged]).includes(SECRET))
    for await (const { data } of service.stores.eventStore.readAll())
      assert.ok(!JSON.stringify(data).includes(SECRET))
  })
})

const scoresIn = (calls: readonly Call[]) =>
  calls
    .filter(({ op_name }) => op_name.includes('predict_and_score'))
    .map(({ output }) => (output as { scores: JsonObject }).scores['remote'])
