import assert from 'node:assert/strict'
import * as E from 'fp-ts/lib/Either.js'
import { Webhook } from 'standardwebhooks'
import { openInMemoryEventStore } from '../../../../src/adapters/event-store/in-memory.js'
import { webhookSender } from '../../../../src/adapters/outgoing/webhook-sender/webhook-sender.js'
import { hmacSha256, systemClock } from '../../../../src/adapters/system/system.js'
import { httpScorer } from '../../../../src/dispatch/evaluations/http-scorer.js'
import { decodeScorer } from '../../../../src/domain/evaluations/scorers/scorer.js'
import type { ScoreContext, Scored } from '../../../../src/domain/evaluations/scoring.js'
import { secretStream } from '../../../../src/domain/secrets/secret.js'
import { scorerSecret } from '../../../../src/domain/webhooks/signing.js'
import { newEvent } from '../../../../src/kernel/event.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import {
  answers,
  answersGarbage,
  answersHugely,
  closes,
  drips,
  hangs,
  hangsInBody,
  inTurn,
  redirects,
  resets,
  resetsInBody,
} from '../../../support/receivers/behaviours.js'
import { startReceiver, type Behaviour, type Receiver } from '../../../support/receivers/receiver.js'

const SECRET = 'whsec_c2lnbmluZy1rZXktb2YtdGhlLXRlc3Q='
const CAUSE = { correlationId: 'c', causationId: 'c', actor: 'ada' }
const scores = (score: unknown) => answers(200, {}, JSON.stringify({ score }))

describe('the HTTP scorer', () => {
  let receiver: Receiver
  let signal: AbortController
  const sender = webhookSender({ allowed: { cidrs: ['127.0.0.0/8'] } })
  const eventStore = openInMemoryEventStore()
  before(async () => {
    receiver = await startReceiver(answers(200))
    const stored = newEvent(
      'stored',
      { type: 'SecretStored', data: { version: 1, used_for: ['scorers'] } },
      CAUSE,
    )
    await eventStore.append(secretStream('team', 'SIGNING_KEY'), 'none', [stored])
  })
  beforeEach(() => void (signal = new AbortController()))
  after(async () => {
    sender.close()
    await receiver.stop()
  })

  const score = async (
    behaviour: Behaviour,
    fields: JsonObject = {},
    context: Partial<ScoreContext> = {},
  ): Promise<{ readonly scored: Scored; readonly requests: Receiver['received'] }> => {
    receiver.behave(behaviour)
    const from = receiver.received.length
    const scorer = decodeScorer('weave:///team/project/object/remote:1', {
      _class_name: 'HTTPScorer',
      name: 'remote',
      url: receiver.url,
      secret: 'SIGNING_KEY',
      ...fields,
    })
    assert.ok(E.isRight(scorer) && scorer.right.kind === 'http', JSON.stringify(scorer))
    const services = {
      eventStore,
      secrets: { get: async () => SECRET },
      webhookSender: sender,
      hmacSha256,
      clock: systemClock,
      vendor: 'Vendor',
    }
    const ask = httpScorer(services, 1)
    const scored = await ask(scorer.right)(
      { example: { question: 'Capital?', expected: 'Paris' }, output: 'Paris' },
      {
        projectId: 'team/project',
        runId: 'run',
        rowId: 'row',
        scoreId: 'score',
        traceId: 'run',
        mayBeRepeat: false,
        userId: 'ada',
        keyId: 'key',
        signal: signal.signal,
        ...context,
      },
    )
    return { scored, requests: receiver.received.slice(from) }
  }
  const failure = async (...of: Parameters<typeof score>): Promise<readonly [string, number]> => {
    const { scored, requests } = await score(...of)
    assert.ok('failed' in scored, JSON.stringify(scored))
    return [scored.failed, requests.length]
  }

  it('posts the row, signed, and takes the score of the answer', async () => {
    const value = { accuracy: 0.5, reason: 'half', ok: true }
    const { scored, requests } = await score(scores(value), { column_map: { target: 'expected' } })
    assert.deepEqual(scored, { value })
    const [request] = requests
    assert.deepEqual(JSON.parse(request!.body.toString()), {
      scorer: 'remote',
      project_id: 'team/project',
      evaluation_run_id: 'run',
      call_id: 'row',
      arguments: {
        inputs: { question: 'Capital?', expected: 'Paris' },
        question: 'Capital?',
        expected: 'Paris',
        output: 'Paris',
        target: 'Paris',
      },
    })
    const { headers, body } = request!
    const derived = scorerSecret(hmacSha256, { value: SECRET, storedAt: new Date() }).value
    new Webhook(derived).verify(body.toString(), headers)
    assert.equal(headers['x-vendor-signature'], hmacSha256(new TextEncoder().encode(derived), body, 'hex'))
    assert.throws(() => new Webhook(SECRET).verify(body.toString(), headers))
    assert.equal(headers['webhook-id'], 'score')
    assert.equal(headers['x-vendor-delivery-attempt'], '1')
    assert.equal(headers['x-vendor-possible-duplicate'], undefined)
  })

  it('takes every JSON value as a score', async () => {
    for (const value of [1, 0, true, false, 'good', null, [], [1], {}])
      assert.deepEqual((await score(scores(value))).scored, { value })
  })

  it('repeats a request after a failure with the same id, marked as a possible duplicate', async () => {
    for (const first of [answers(500), answers(503), answers(429), resets, closes, answersGarbage]) {
      const { scored, requests } = await score(inTurn(first, scores(1)))
      assert.deepEqual(scored, { value: 1 })
      assert.deepEqual(
        requests.map(({ headers }) => [
          headers['webhook-id'],
          headers['x-vendor-delivery-attempt'],
          headers['x-vendor-possible-duplicate'],
        ]),
        [
          ['score', '1', undefined],
          ['score', '2', 'true'],
        ],
      )
    }
  })

  it('marks the first request too where an earlier answer may be lost', async () => {
    const { requests } = await score(scores(1), {}, { mayBeRepeat: true })
    assert.equal(requests[0]!.headers['x-vendor-possible-duplicate'], 'true')
  })

  it('fails after five attempts of a scorer that is down, and says so', async () => {
    assert.deepEqual(await failure(answers(500)), ['the scorer answered status 500', 5])
    assert.deepEqual(await failure(answers(429, { 'retry-after': '0' })), [
      'the scorer answered status 429',
      5,
    ])
    const { scored } = await score(resets)
    assert.deepEqual(scored, {
      failed: 'the scorer cannot be reached (reset ECONNRESET)',
      isUnavailable: true,
    })
    const absent = await startReceiver(answers(200))
    await absent.stop()
    const [reason] = await failure(answers(200), { url: absent.url })
    assert.equal(reason, 'the scorer cannot be reached (connect ECONNREFUSED)')
  })

  it('fails at its timeout', async () => {
    for (const behaviour of [hangs, drips(200, 5)]) {
      const [reason] = await failure(behaviour, { timeout_s: 0.03 })
      assert.match(reason, /did not answer in time \((head|total)\)|not JSON, or is incomplete/)
    }
    assert.match((await failure(hangsInBody(200), { timeout_s: 0.03 }))[0], /incomplete/)
    assert.match((await failure(resetsInBody(200)))[0], /incomplete/)
  })

  it('asks once where the same request would get the same answer', async () => {
    for (const status of [201, 204, 400, 401, 404, 410, 422])
      assert.deepEqual(await failure(answers(status)), [`the scorer answered status ${status}`, 1])
    assert.deepEqual(await failure(redirects(302, receiver.url)), ['the scorer answered status 302', 1])
    const wrong = 'the answer of the scorer should be an object with the member "score"'
    for (const body of ['1', 'null', '[]', '"score"', '{}', '{"Score": 1}', '{"__proto__": {"score": 1}}'])
      assert.deepEqual(await failure(answers(200, {}, body)), [wrong, 1])
    for (const body of ['', 'fine', '{"score": 1', Buffer.from([0x22, 0xff, 0x22])])
      assert.deepEqual(await failure(answers(200, {}, body)), [
        'the answer of the scorer is not JSON, or is incomplete',
        1,
      ])
    const deep = `{"score": ${'['.repeat(1000)}${']'.repeat(1000)}}`
    assert.match((await failure(answers(200, {}, deep)))[0], /not JSON/)
  })

  it('says what the scorer says went wrong', async () => {
    const saying = (error: unknown) => failure(answers(422, {}, JSON.stringify({ error })))
    assert.deepEqual(await saying('KeyError: x'), ['the scorer answered status 422: KeyError: x', 1])
    assert.ok((await saying('x'.repeat(10_000)))[0].length < 400)
    assert.deepEqual(await saying({ x: 1 }), ['the scorer answered status 422', 1])
  })

  it('reads no more than 16 KiB of an answer', async () => {
    const larger = 'the answer of the scorer is larger than 16384 bytes'
    assert.deepEqual(await failure(scores('x'.repeat(16_384))), [larger, 1])
    assert.deepEqual(await failure(answersHugely(200, 1e9)), [larger, 1])
    assert.ok('value' in (await score(scores('x'.repeat(16_384 - '{"score":""}'.length)))).scored)
  })

  it('never connects to an address that is not allowed', async () => {
    const forbidden = 'the URL of the scorer leads to an address that the operator does not allow'
    for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/latest', 'http://[::1]:1/'])
      assert.deepEqual(await failure(answers(200), { url }), [forbidden, 0])
  })

  it('sends nothing without the secret', async () => {
    assert.deepEqual(await failure(answers(200), { secret: 'OTHER' }), [
      'the team has no secret named OTHER',
      0,
    ])
    assert.deepEqual(await failure(answers(200), {}, { projectId: 'other/project' }), [
      'the team has no secret named SIGNING_KEY',
      0,
    ])
  })

  it('ends when the run is canceled', async () => {
    const asked = failure((socket, received) => {
      hangs(socket, received)
      signal.abort()
    })
    assert.deepEqual(await asked, ['the request was aborted', 1])
  })
})
