import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import { DEFAULT_LIST, teamsList } from '../../../../src/domain/prices/events.js'
import { COUNTS } from '../../../counts.js'
import { until } from '../../../support/until.js'
import { answers } from '../../../support/receivers/behaviours.js'
import { anAutomation, aWebhook, givenTeam } from '../given.js'
import { recordCalls, setCosts } from '../../prices/given.js'
import { accepted, textIn } from '../../calls/given.js'
import { startSending, type Sending } from './given.js'

const ROUNDS = COUNTS.deliveryCosts

const day = fc.integer({ min: 1, max: 6 }).map((day) => `2026-01-0${day}T00:00:00.000000Z` as Instant)
const cost = fc.integer({ min: 0, max: 99_999 }).map((micros) => micros / 1e6)
const tokens = fc.integer({ min: 0, max: 2000 })
const model = fc.constantFrom('fast', 'slow', 'odd name"')

const price = fc.record({
  whose: fc.constantFrom('project', 'team', 'default'),
  llm_id: model,
  effective_date: day,
  costs: fc.tuple(cost, cost, cost, cost),
})
const call = fc.record({
  started_at: day,
  usage: fc.dictionary(
    fc.oneof(model, fc.constant('unknown')),
    fc.record({
      prompt_tokens: tokens,
      input_tokens: fc.constantFrom(0, 7),
      completion_tokens: tokens,
      cache_read_input_tokens: tokens,
      cache_creation_input_tokens: fc.constantFrom(0, 5),
    }),
    { maxKeys: 3 },
  ),
})

type Price = typeof price extends fc.Arbitrary<infer P> ? P : never
type Call = typeof call extends fc.Arbitrary<infer C> ? C : never

describe('automations that watch what calls cost', () => {
  let sending: Sending
  before(async () => {
    sending = await startSending()
  })
  after(() => sending.stop())

  const fires = async (prices: readonly Price[], calls: readonly Call[]): Promise<void> => {
    const { service, receiver } = sending
    const given = await givenTeam(service)
    const { team, send, append } = given
    const project = `${team}/project`
    const { url, received } = await receiver(answers(200))
    accepted(await given.postWebhook(aWebhook({ url })))
    const automation = anAutomation(team, {
      event: { type: 'CALL_USAGE_THRESHOLD', measure: 'cost', comparison: '$gt', threshold: 10 },
      payload:
        '{"call": "${call_id}", "cost": ${metric_value}, "of": "${metric_name}", "over": ${threshold}}',
    })
    const path = `/api/automations/${textIn(accepted(await given.postAutomation(automation)), 'id')}`

    const publish = async ({ whose, llm_id, effective_date, costs }: Price, id: string) => {
      const [prompt, completion, read, creation] = costs
      const said = {
        effective_date,
        prompt_token_cost: prompt,
        completion_token_cost: completion,
        cache_read_input_token_cost: read,
        cache_creation_input_token_cost: creation,
      }
      if (whose === 'project') return setCosts(service, project, { [llm_id]: said })
      const list = whose === 'team' ? teamsList(team) : DEFAULT_LIST
      const exact = Object.fromEntries(
        Object.entries(said).map(([key, value]) => [
          key,
          typeof value === 'number' ? value.toFixed(6).replace(/\.?0+$/, '') : value,
        ]),
      )
      const created = { created_at: '2026-01-01T00:00:00.000000Z', created_by: 'test' }
      const data = { project_id: null, list, id, llm_id, ...exact, ...created }
      return append(`price-${list}`, 'PricePublished', data)
    }
    const ends = new Map<string, string>()
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const place of [2 * round, 2 * round + 1]) await publish(prices[place]!, `${team} ${place}`)
      for (const place of [3 * round, 3 * round + 1, 3 * round + 2]) {
        const { usage, started_at } = calls[place]!
        await recordCalls(service, project, [[`c${place}`, null, usage, { started_at }]])
        for await (const { type, position } of service.stores.eventStore.readStream(
          `call-${project}/c${place}`,
        ))
          if (type === 'CallEnded') ends.set(`c${place}`, String(position))
      }
    }
    assert.equal(ends.size, 3 * ROUNDS)

    const expected = new Map<string, number>()
    for (const [id, position] of ends) {
      const headers = { 'tallytree-as-of': position }
      const asked = { project_id: project, include_costs: true, filter: { call_ids: [id] } }
      const { totals } = accepted(await send('POST', '/usage/query', asked, { headers })) as unknown as {
        totals: { usage: { calls: number; total_cost: number | null } }
      }
      const total = totals.usage.calls === 0 ? null : totals.usage.total_cost
      const why = accepted(await send('GET', `${path}/why?event=${position}`))
      if (total === null) assert.deepEqual([why['matched'], why['reason']], [false, 'price_unknown'])
      else assert.deepEqual([why['matched'], why['value'], why['threshold']], [total > 10, total, 10])
      if (total !== null && total > 10) expected.set(id, total)
    }
    await until(() => received.length === expected.size)
    const sent = received.map(({ body }) => JSON.parse(body.toString()) as JsonObject)
    assert.deepEqual(
      new Map(sent.map((message) => [message['call'], message['cost']])),
      new Map<unknown, unknown>(expected),
    )
    for (const message of sent) assert.deepEqual([message['of'], message['over']], ['cost', 10])

    const { data } = accepted(await send('POST', `${path}/backtest`, {})) as { data: readonly JsonObject[] }
    const inOrder = [...ends.keys()].filter((id) => expected.has(id)).map((id) => expected.get(id))
    assert.deepEqual(
      data.map(({ value }) => value),
      inOrder,
    )
    const list = async () =>
      accepted(await send('GET', `${path}/deliveries`)) as { data: readonly JsonObject[] }
    await until(async () => (await list()).data.length >= expected.size)
    const listed = await list()
    assert.deepEqual(
      data.map(({ delivery }) => delivery),
      listed.data.map(({ id }) => id).toReversed(),
    )
  }

  it('fire by the cost that usage queries answer as of the end of the call, whatever prices come later', () => {
    const prices = fc.array(price, { minLength: 2 * ROUNDS, maxLength: 2 * ROUNDS })
    const calls = fc.array(call, { minLength: 3 * ROUNDS, maxLength: 3 * ROUNDS })
    return fc.assert(fc.asyncProperty(prices, calls, fires), { numRuns: 1, endOnFailure: true })
  })
})
