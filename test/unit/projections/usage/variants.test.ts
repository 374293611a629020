import assert from 'node:assert/strict'
import type { CallEvent } from '../../../../src/domain/calls/call.js'
import { NO_FILTER } from '../../../../src/projections/calls/filter.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import type { Json } from '../../../../src/kernel/json/json.js'
import { FACTS } from '../../../../src/projections/usage/tables.js'
import { usageFrom } from '../../../../src/projections/usage/queries.js'
import { usageProjection } from '../../../../src/projections/usage/project.js'
import { EXTRAS } from '../../../../src/domain/prices/variant.js'
import { ended, PROJECT, started } from '../../../support/oracle/given.js'
import { Recorder } from './recorder.js'
import { totalsOfProject } from './totals-service.js'

const BATCH = { prompt_tokens: 7, service_tier: 'batch' }

/** The models in the usage facts of a call's end. Events of earlier releases have no service tier. */
const modelsOf = async (usage: Json, isEarlier: boolean): Promise<unknown> => {
  const recorder: Recorder = new Recorder(PROJECT, () => Promise.resolve([]))
  for (const operation of [started('a'), ended('a', 1, usage)]) await recorder.take(operation)
  const events = recorder.events.map((event) => (isEarlier ? ofEarlierRelease(event) : event))
  const rows = usageProjection.rowsOf(events).find(({ table }) => table === 'usage_facts')!
  return rows.values.at(-1)![FACTS.names.indexOf('models')]
}

const ofEarlierRelease = (event: ProjectedEvent): ProjectedEvent => {
  const { type, data } = event as unknown as CallEvent
  if (type !== 'CallEnded') return event
  const models = data.usage.models.map(({ service_tier: _, ...used }) => ({
    ...used,
    ...Object.fromEntries(EXTRAS.map((extra) => [extra, 0])),
    unrecognized_usage: 1,
  }))
  return { ...event, data: { ...data, usage: { ...data.usage, models } } }
}

describe('variants of usage', () => {
  const { clickHouse, head, given, pass } = totalsOfProject()

  it('have the tier of service of a report, also in events of earlier releases', async () => {
    for (const isEarlier of [false, true]) {
      assert.deepEqual(await modelsOf({ gpt: BATCH }, isEarlier), ['gpt\u001F0\u001Fbatch\u001F'])
      const fast = { prompt_tokens: 7, service_tier: 'standard', speed: 'fast' }
      assert.deepEqual(await modelsOf({ gpt: fast }, isEarlier), ['gpt\u001F0\u001Ffast\u001F'])
      const more = { ...BATCH, speed: 'fast' }
      assert.deepEqual(await modelsOf({ gpt: more }, isEarlier), ['gpt\u001F0\u001Fbatch\u001Funrecognized'])
    }
    assert.deepEqual(await modelsOf({ gpt: { prompt_tokens: 300_000 } }, false), ['gpt'])
  })

  it('have the audio and searches of a report, also in events of earlier releases', async () => {
    const audio = { prompt_tokens: 7, prompt_tokens_details: { audio_tokens: 3 } }
    const both = { ...BATCH, num_search_queries: 3, speed: 'fast' }
    for (const isEarlier of [false, true]) {
      assert.deepEqual(await modelsOf({ gpt: audio }, isEarlier), [
        'gpt\u001F0\u001F\u001Fprompt_audio_tokens',
      ])
      assert.deepEqual(await modelsOf({ gpt: both }, isEarlier), [
        'gpt\u001F0\u001Fbatch\u001Fweb_search_requests,unrecognized',
      ])
    }
  })

  it('are never taken from the name of a model', async () => {
    assert.deepEqual(await modelsOf({ 'gpt\u001F0\u001Fbatch': { prompt_tokens: 7 } }, false), [
      'gpt\u001EF0\u001EFbatch',
    ])
  })

  it('are one model in answers from stored totals and from facts, with and without costs', async () => {
    await given(
      started('root'),
      started('a', { in: 'root' }),
      started('b', { in: 'root' }),
      started('c', { in: 'root' }),
      ended('a', 1, { gpt: { prompt_tokens: 7 } }),
      ended('b', 1, { gpt: { prompt_tokens: 300_000 } }),
      ended('c', 1, { gpt: BATCH }),
      ended('root', 2),
    )
    await pass()
    const filter = { ...NO_FILTER, trace_roots_only: true }
    for (const computedFacts of [0, undefined])
      for (const costs of [null, { list: null }]) {
        const asked = { projectId: PROJECT, filter, operation: null, position: head(), limit: 10, costs }
        const answer = await usageFrom(undefined, computedFacts)(clickHouse().reader, {
          ...asked,
          maxTraceCalls: 100,
        })
        const [{ usage, charges }] = answer.calls as [(typeof answer.calls)[number]]
        const models = [...usage].map(([key, counters]) => [charges[key]!.model, counters[1]])
        assert.deepEqual([...new Set(models.map(([model]) => model))], ['gpt'])
        assert.equal(
          models.reduce((sum, [, prompt]) => sum + Number(prompt), 0),
          300_014,
        )
        assert.equal(models.length, costs === null ? 1 : 3)
      }
  })
})
