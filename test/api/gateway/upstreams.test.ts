import assert from 'node:assert/strict'
import {
  ADMINISTRATOR_KEY as ADMINISTRATOR,
  startTestService,
  type TestService,
} from '../../support/service.js'
import { givenTeam } from '../webhooks/given.js'
import { accepted, reasonOf, textIn } from '../calls/given.js'
import { anUpstream, UPSTREAMS } from './given.js'

const NOT_FOUND = 'Upstream not found, or the API key has no access to its team.'
const NO_TEAM = 'Team not found, or the API key has no access to it.'

describe('managing upstreams', () => {
  let service: TestService
  let given: Awaited<ReturnType<typeof givenTeam>>
  before(async () => {
    service = await startTestService()
    given = await givenTeam(service)
  })
  after(() => service.stop())

  const ofTeam = (more: object = {}) => anUpstream({ team: given.team, ...more })
  const create = (body: object, key?: string) => given.send('POST', UPSTREAMS, body, key ? { key } : {})
  const created = async (body: object, key?: string) => accepted(await create(body, key))

  it('makes, shows, changes, lists and deletes one', async () => {
    const made = await created(ofTeam({ name: 'first', secret: 'TOKEN', weight: 3 }))
    const id = textIn(made, 'id')
    assert.deepEqual(
      [made['name'], made['secret'], made['weight'], made['configured']],
      ['first', 'TOKEN', 3, false],
    )
    assert.deepEqual(made['health'], {
      models: [{ model: 'chat', state: 'in', faults_in_a_row: 0, in_flight: 0, out_until: null }],
    })
    const path = `${UPSTREAMS}/${id}`
    assert.deepEqual(accepted(await given.send('GET', path)), made)
    const changed = accepted(await given.send('PATCH', path, { weight: 0, secret: null, probe: true }))
    assert.deepEqual(changed, { ...made, weight: 0, secret: null, probe: true })
    const list = accepted(await given.send('GET', `${UPSTREAMS}?team=${given.team}`))
    assert.deepEqual(list, { data: [changed], next: null })
    accepted(await given.send('DELETE', path))
    assert.equal(reasonOf(await given.send('GET', path), 404), NOT_FOUND)
    assert.equal(reasonOf(await given.send('DELETE', path), 404), NOT_FOUND)
  })

  it('is for team administrators, and for the administrator alone where it is for all teams', async () => {
    const path = `${UPSTREAMS}/${textIn(await created(ofTeam({ name: 'kept' })), 'id')}`
    const models = [{ id: 'own', upstream_id: 'o' }]
    const own = textIn(await created(anUpstream({ models }), ADMINISTRATOR), 'id')
    const asks: readonly (readonly [string, string, object?])[] = [
      ['POST', UPSTREAMS, ofTeam()],
      ['GET', `${UPSTREAMS}?team=${given.team}`],
      ['GET', path],
      ['PATCH', path, { weight: 2 }],
      ['DELETE', path],
    ]
    for (const [method, at, body] of asks)
      for (const role of ['member', 'project_administrator', 'registry_administrator'] as const) {
        const answer = await service.send(method, at, body, { key: given.keys[role] })
        assert.equal(
          reasonOf(answer, 403),
          `This requires the role team_administrator in team ${given.team}.`,
        )
      }
    for (const [method, at, body] of [
      ['POST', UPSTREAMS, anUpstream()] as const,
      ['GET', UPSTREAMS] as const,
    ])
      assert.match(reasonOf(await given.send(method, at, body), 403), /administrator key/)
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const)
      assert.equal(reasonOf(await given.send(method, `${UPSTREAMS}/${own}`, body), 404), NOT_FOUND)
    const all = accepted(await service.send('GET', UPSTREAMS)) as { data: { team: string | null }[] }
    assert.deepEqual(new Set(all.data.map(({ team }) => team)), new Set([null, given.team]))
  })

  it('tells strangers nothing: one of others is as one that is not there', async () => {
    const id = textIn(await created(ofTeam({ name: 'hidden' })), 'id')
    for (const [method, body] of [['GET'], ['PATCH', { weight: 1 }], ['DELETE']] as const) {
      const answers = await Promise.all(
        [id, 'nothing'].map((one) =>
          service.send(method, `${UPSTREAMS}/${one}`, body, { key: given.stranger }),
        ),
      )
      assert.equal(reasonOf(answers[0]!, 404), NOT_FOUND)
      assert.equal(answers[0]!.text, answers[1]!.text)
    }
    for (const team of [given.team, 'nobodys']) {
      const asked = [
        service.post(UPSTREAMS, anUpstream({ team }), { key: given.stranger }),
        service.send('GET', `${UPSTREAMS}?team=${team}`, undefined, { key: given.stranger }),
      ]
      for (const answer of await Promise.all(asked)) assert.equal(reasonOf(answer, 404), NO_TEAM)
    }
  })

  it('refuses what an upstream cannot be, and says where', async () => {
    const model = { id: 'x', upstream_id: 'x' }
    const wrong: readonly (readonly [object, string])[] = [
      [{ base_url: 'ftp://models.example' }, 'base_url'],
      [{ base_url: 'models.example/v1' }, 'base_url'],
      [{ base_url: 'https://user:pass@models.example/v1' }, 'base_url'],
      [{ base_url: 'https://models.example/v1?key=geheim' }, 'base_url'],
      [{ base_url: 'https://models.example/ v1' }, 'base_url'],
      [{ name: '' }, 'name'],
      [{ name: 'x'.repeat(300) }, 'name'],
      [{ models: [] }, 'models'],
      [{ models: [model, model] }, 'models.1.id'],
      [{ models: [{ ...model, aliases: ['y', 'y'] }] }, 'models.0.aliases.1'],
      [{ models: [{ ...model, aliases: ['x'] }] }, 'models.0.aliases.0'],
      [{ models: [{ ...model, id: ' x' }] }, 'models.0.id'],
      [{ models: [{ ...model, upstream_id: '' }] }, 'models.0.upstream_id'],
      [{ models: [{ ...model, checkpoint_id: '${model}' }] }, 'models.0.checkpoint_id'],
      [{ models: [{ ...model, checkpoint_id: '${model}-${step}-${rank}' }] }, 'models.0.checkpoint_id'],
      [{ models: [{ ...model, concurrency: 0 }] }, 'models.0.concurrency'],
      [
        { models: [{ ...model, price: { prompt_token_cost: 1, completion_token_cost: '1' } }] },
        'models.0.price.prompt_token_cost',
      ],
      [{ models: [{ ...model, prompt_token_cost: '0.1' }] }, 'models.0.prompt_token_cost'],
      [
        { models: [{ ...model, price: { prompt_token_cost: '1', completion_token_cost: '1', price: '1' } }] },
        'models.0.price.price',
      ],
      [{ timeouts: { connect_ms: 0 } }, 'timeouts.connect_ms'],
      [{ weight: -1 }, 'weight'],
      [{ weigth: 1 }, 'weigth'],
      [{ secret: 'NONE' }, 'secret'],
    ]
    for (const [more, place] of wrong) {
      const answer = await create(ofTeam({ name: 'wrong', ...more }))
      assert.equal(answer.status, 422, JSON.stringify(more))
      const { detail } = answer.json<{ detail: { loc: (string | number)[] }[] }>()
      assert.equal(detail[0]?.loc.join('.'), `body.${place}`, JSON.stringify(more))
      assert.ok(!answer.text.includes('geheim') && !answer.text.includes('user:pass'))
    }
    const operators = await create(anUpstream({ secret: 'TOKEN' }), ADMINISTRATOR)
    assert.equal(operators.status, 422)
    assert.match(operators.text, /TALLYTREE_UPSTREAMS_FILE/)
  })

  it('refuses a name of a model that the team or the operator has; the operator may have any', async () => {
    const id = `m-${given.team}`
    const models = [{ id, upstream_id: 'm', aliases: [`${id}-alias`] }]
    const taker = await created(ofTeam({ name: 'taker', models }))
    const conflict = async (body: object, key?: string) =>
      assert.match(reasonOf(await create(body, key), 409), /Another upstream already serves/)
    await conflict(ofTeam({ name: 'second', models: [{ id: `${id}-alias`, upstream_id: 'm' }] }))
    await created(ofTeam({ name: 'third', models }))
    const other = anUpstream({ name: 'others', team: given.other, models })
    await created(other, given.stranger)
    const fourth = await created(ofTeam({ name: 'fourth', models: [{ id: `${id}-4`, upstream_id: 'm' }] }))
    const change = { models: [{ id: `${id}-alias`, upstream_id: 'm' }] }
    const changed = await given.send('PATCH', `${UPSTREAMS}/${textIn(fourth, 'id')}`, change)
    assert.match(reasonOf(changed, 409), /Another upstream already serves/)
    const taken = await create(ofTeam({ name: 'taker', models }))
    assert.match(reasonOf(taken, 409), /An upstream named .* already exists/)
    assert.equal(taken.json()['id'], textIn(taker, 'id'))
    await created(anUpstream({ name: 'all', models }), ADMINISTRATOR)
    await conflict(ofTeam({ name: 'fifth', models }))
  })

  it('makes one once under an Idempotency-Key', async () => {
    const options = { headers: { 'idempotency-key': 'once' } }
    const body = ofTeam({ name: 'repeated', models: [{ id: 'r', upstream_id: 'r' }] })
    const first = accepted(await given.send('POST', UPSTREAMS, body, options))
    assert.deepEqual(accepted(await given.send('POST', UPSTREAMS, body, options)), first)
    const otherwise = await given.send('POST', UPSTREAMS, { ...body, weight: 2 }, options)
    assert.match(reasonOf(otherwise, 409), /Idempotency-Key/)
  })
})
