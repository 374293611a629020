import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { givenTeam } from '../artifacts/given.js'
import { sharedService } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, textIn, told, writesNothing } from '../calls/given.js'

describe('runs', () => {
  let service: TestService
  let team: string
  let key: string
  let user: string

  before(async () => {
    service = await sharedService()
    const given = await givenTeam(service)
    team = given.team
    key = await given.keyOf('member')
    user = textIn(accepted(await service.send('GET', '/api/users/me', undefined, { key })), 'user')
  })

  const start = (body: object, headers = {}) =>
    service.post(`/api/runs/${team}/project`, body, { key, headers })

  /** A run of its own. */
  const given = async () => {
    const id = textIn(accepted(await start({ name: 'a run' })), 'id')
    const path = `/api/runs/${team}/project/${id}`
    return {
      id,
      path,
      log: (metrics: unknown, step?: unknown) => service.post(`${path}/metrics`, { metrics, step }, { key }),
      finish: (state: unknown) => service.post(`${path}/finish`, { state }, { key }),
      read: async () => accepted(await service.send('GET', path, undefined, { key })),
      events: () => eventsOf(service, `run-${team}/project/${id}`),
    }
  }

  it('say whose they are, what they logged last, and how they ended', async () => {
    const { id, log, finish, read, events } = await given()
    const begun = { id, name: 'a run', user }
    const { started_at } = await read()
    const details = {
      group: null,
      job_type: null,
      notes: null,
      tags: [],
      host: null,
      commit: null,
      program: null,
      repository: null,
    }
    const nothing = { details, config: {}, summary: {}, history_lines: 0, forked_from: null }
    const running = { ...begun, ...nothing, state: 'running', started_at, ended_at: null }
    assert.deepEqual(await read(), { ...running, last_logged: null })
    accepted(await log({ loss: 0.5, skipped: null }, 1))
    accepted(await log({ loss: 0.25 }))
    assert.deepEqual(await read(), { ...running, last_logged: { metrics: { loss: 0.25 }, step: null } })
    accepted(await finish('crashed'))
    const { ended_at, ...ended } = await read()
    assert.ok(typeof ended_at === 'string')
    assert.deepEqual(
      [ended['state'], ended['last_logged']],
      ['crashed', { metrics: { loss: 0.25 }, step: null }],
    )
    const of = { project_id: `${team}/project`, run_id: id, name: 'a run', user }
    assert.deepEqual(
      (await events()).map(({ type, data }) => [type, data]),
      [
        ['RunStarted', { ...of, started_at }],
        ['MetricsLogged', { ...of, metrics: { loss: 0.5 }, step: 1 }],
        ['MetricsLogged', { ...of, metrics: { loss: 0.25 }, step: null }],
        ['RunFailed', { ...of, state: 'crashed', ended_at }],
      ],
    )
    assert.ok((await events()).every(({ metadata }) => metadata.actor === user))
  })

  it('log a step once: the same again writes nothing, other metrics are a conflict', async () => {
    const { log, finish, events } = await given()
    for (const step of [5, 1, -1, 0, 9_007_199_254_740_991]) {
      accepted(await log({ a: step, b: 2 }, step))
      await writesNothing(service, async () => {
        accepted(await log({ b: 2, a: step, c: null }, step))
        reasonOf(await log({ a: 'other'.length + 0.5 }, step), 409)
        reasonOf(await log({}, step), 409)
      })
    }
    accepted(await finish('finished'))
    await writesNothing(service, async () => {
      accepted(await finish('finished'))
      accepted(await log({ a: 1, b: 2 }, 1))
      assert.match(reasonOf(await log({ a: 1 }, 6), 409), /finished/)
      reasonOf(await log({ a: 1 }), 409)
      reasonOf(await finish('failed'), 409)
    })
    assert.equal((await events()).length, 7)
  })

  it('without a step log something new each time, and nothing where nothing is said', async () => {
    const { log, events } = await given()
    for (let i = 0; i < 3; i += 1) accepted(await log({ a: 1 }))
    await writesNothing(service, async () => {
      accepted(await log({}))
      accepted(await log({ a: null }, 3))
    })
    accepted(await log({ a: 7 }, 3))
    assert.equal((await events()).length, 5)
  })

  it('take what many log at once', async () => {
    const { log, events } = await given()
    await Promise.all(Array.from({ length: 60 }, (_, i) => log({ a: i % 20 }, i % 20).then(accepted)))
    const steps = (await events()).slice(1).map(({ data }) => data['step'])
    assert.deepEqual(
      steps.toSorted((a, b) => Number(a) - Number(b)),
      Array.from({ length: 20 }, (_, i) => i),
    )
  })

  it('are started once under an id or an Idempotency-Key', async () => {
    accepted(await start({ name: 'one', id: 'mine/ü' }))
    const headers = { 'Idempotency-Key': 'once' }
    const made = accepted(await start({ name: 'two' }, headers))
    await writesNothing(service, async () => {
      assert.deepEqual(accepted(await start({ name: 'one', id: 'mine/ü' })), { id: 'mine/ü' })
      assert.deepEqual(accepted(await start({ name: 'two' }, headers)), made)
      reasonOf(await start({ name: 'other', id: 'mine/ü' }), 409)
      reasonOf(await start({ name: 'other' }, headers), 409)
    })
    const path = `/api/runs/${team}/project/${encodeURIComponent('mine/ü')}`
    assert.equal(accepted(await service.send('GET', path, undefined, { key }))['id'], 'mine/ü')
    assert.notEqual(
      accepted(await start({ name: 'one' }))['id'],
      accepted(await start({ name: 'one' }))['id'],
    )
  })

  it('name what is wrong with what is asked', async () => {
    const { log, finish } = await given()
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`m${i}`, i]))
    for (const [answer, ...problems] of [
      [await start({}), 'missing name'],
      [await start({ name: 'n', user: 'mallory' }), 'extra_forbidden user'],
      [
        await start({ name: 'n'.repeat(257), id: '\u0000' }),
        'string_too_long name',
        'string_pattern_mismatch id',
      ],
      [await log(undefined), 'missing metrics'],
      [await log([]), 'dict_type metrics'],
      [await log({ '': 1 }), 'string_too_short metrics.'],
      [await log({ ['m'.repeat(257)]: 1 }), `string_too_long metrics.${'m'.repeat(256)}…`],
      [await log(many), 'too_long metrics'],
      [await log({ a: 1 }, 1.5), 'int_type step'],
      [await log({ a: 1 }, 2 ** 53), 'less_than_equal step'],
      [await finish(null), 'literal_error state'],
      [await finish('running'), 'literal_error state'],
    ] as const)
      assert.deepEqual(told(answer), problems)
  })

  it('leave out metrics that are no numbers, name them, and keep the others', async () => {
    const { path, events } = await given()
    const report = async (metrics: string) => {
      const answer = accepted(await service.post(`${path}/metrics`, `{"metrics": ${metrics}}`, { key }))
      const warnings = (answer['warnings'] ?? []) as readonly { loc: readonly string[]; type: string }[]
      assert.ok(warnings.every(({ type }) => type === 'float_type'))
      return [warnings.map(({ loc }) => loc.join('.')), (await events()).at(-1)!.data['metrics']]
    }
    const odd =
      '{"a": NaN, "b": Infinity, "c": "text", "d": {"e": 1}, "f": [1], "g": true, "h": null, "i": 1e999, "ok": 0.1}'
    assert.deepEqual(await report(odd), [
      ['a', 'b', 'c', 'd', 'f', 'g', 'h', 'i'].map((name) => `body.metrics.${name}`),
      { ok: 0.1 },
    ])
    assert.deepEqual(await report('{"ok": 1, "more": -2.5}'), [[], { ok: 1, more: -2.5 }])
    assert.deepEqual((await report('{"loss": "NaN", "ok": 2}'))[1], { ok: 2 })
  })

  it('that are not there are not found', async () => {
    await writesNothing(service, async () => {
      for (const run of ['nothing', '%00', 'x'.repeat(300)]) {
        const path = `/api/runs/${team}/project/${run}`
        reasonOf(await service.send('GET', path, undefined, { key }), 404)
        reasonOf(await service.post(`${path}/metrics`, { metrics: { a: 1 } }, { key }), 404)
        reasonOf(await service.post(`${path}/finish`, { state: 'killed' }, { key }), 404)
      }
    })
  })

  it('are those of a team alone', async () => {
    const { id } = await given()
    const stranger = await (await givenTeam(service)).keyOf('team_administrator')
    await writesNothing(service, async () => {
      for (const [method, at, body] of [
        ['GET', `/${id}`],
        ['POST', '', { name: 'n' }],
        ['POST', `/${id}/metrics`, { metrics: {} }],
        ['POST', `/${id}/finish`, { state: 'finished' }],
      ] as const) {
        const [there, none] = await Promise.all(
          [team, 'nobody-has-this'].map((one) =>
            service.send(method, `/api/runs/${one}/project${at}`, body, { key: stranger }),
          ),
        )
        assert.equal(reasonOf(there!, 404), reasonOf(none!, 404))
      }
    })
  })
})
