import assert from 'node:assert/strict'
import { EntryBudget } from '../../../../src/projections/usage/inclusive-usage.js'
import { storedUsage } from '../../../../src/projections/usage/stored-usage.js'
import { traceSizes } from '../../../../src/projections/usage/facts.js'
import { ended, PROJECT, started } from '../../../support/oracle/given.js'
import { totalsOfProject } from './totals-service.js'

describe('stored usage', () => {
  const { clickHouse, head, given, pass } = totalsOfProject()
  const used = (prompt_tokens: number) => ({ gpt: { prompt_tokens } })

  /** The calls of traces whose usage is read from the totals. */
  const read = async (): Promise<readonly string[]> => {
    const { reader } = clickHouse()
    const calls = await reader.query<{ id: string; trace_id: string; started_at: string }>(
      'SELECT DISTINCT id, trace_id, toString(started_at) AS started_at FROM call_index ORDER BY started_at, id',
    )
    const sizes = await traceSizes(reader, PROJECT, [...new Set(calls.map(({ trace_id }) => trace_id))])
    const asked = { projectId: PROJECT, position: head(), calls, sizes, maxFacts: 100 }
    const found = await storedUsage(reader, { ...asked, budget: new EntryBudget() })
    return found?.calls.map(({ id }) => id) ?? []
  }

  it('is that of traces that a pass has summed up since their last change', async () => {
    await given(started('a'), ended('a', 1, used(2)))
    assert.deepEqual(await read(), [])
    await pass()
    assert.deepEqual(await read(), ['a'])
  })

  it('is that of traces whose calls ran while an earlier pass summed them up', async () => {
    await clickHouse().writer.command('SYSTEM STOP MERGES usage_totals')
    await given(started('a'))
    await pass()
    assert.deepEqual(await read(), [])
    await given(ended('a', 1, used(2)))
    await pass()
    assert.deepEqual(await read(), ['a'])
  })
})
