import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { Rows } from '../../../../src/kernel/ports/clickhouse.js'
import { readTotalsState } from '../../../../src/projections/usage/totals-state.js'
import { noteTarget, runTotalsPass, startTotals } from '../../../../src/projections/usage/totals-pass.js'
import { ended, started } from '../../../support/oracle/given.js'
import type { Operation } from '../../../support/oracle/operations.js'
import { until } from '../../../support/until.js'
import { totalsOfProject } from './totals-service.js'

const OWN: Operation = { kind: 'reporting', usage_reporting: 'own' }
const ROLLED_UP: Operation = { kind: 'reporting', usage_reporting: 'rolled_up' }

describe('the totals pass', () => {
  const { clickHouse, startLog, head, given, pass } = totalsOfProject()
  const used = (prompt_tokens: number) => ({ gpt: { prompt_tokens } })

  /** Each row as `call model own inclusive`. */
  const rows = async (): Promise<readonly string[]> => {
    const found = await clickHouse().reader.query<{ row: string }>(
      `SELECT concatWithSeparator(' ', call_id, model, toString(own_prompt_tokens), toString(prompt_tokens)) AS row
      FROM usage_totals FINAL ORDER BY row`,
    )
    return found.map(({ row }) => row)
  }

  it('deletes the rows of deleted calls, and replaces those of the calls above', async () => {
    await given(started('a'), started('b', { in: 'a' }), ended('b', 1, used(2)), ended('a', 2, used(3)), OWN)
    await pass()
    assert.deepEqual(await rows(), ['a gpt 3 5', 'b gpt 2 2'])
    await given({ kind: 'delete', call_ids: ['b'] })
    await pass()
    assert.deepEqual(await rows(), ['a gpt 3 3'])
    await given({ kind: 'delete', call_ids: ['a'] })
    await pass()
    assert.deepEqual(await rows(), [])
  })

  it('deletes the row of a running call when the call ends with usage', async () => {
    await given(started('a'))
    await pass()
    assert.deepEqual(await rows(), ['a  0 0'])
    await given(ended('a', 1, used(2)))
    await pass()
    assert.deepEqual(await rows(), ['a gpt 2 2'])
  })

  it('makes no row of an end until its start arrives', async () => {
    await given(ended('a', 5, used(2)))
    await pass()
    assert.deepEqual(await rows(), [])
    await given(started('a', { at: 1 }))
    await pass()
    assert.deepEqual(await rows(), ['a gpt 2 2'])
  })

  it('replaces the rows of all traces when the reported usage changes with the last event', async () => {
    for (const trace of ['t', 'other'])
      await given(
        started(`${trace} a`, { trace }),
        started(`${trace} b`, { trace, in: `${trace} a` }),
        ended(`${trace} b`, 1, used(2)),
        ended(`${trace} a`, 2, used(3)),
      )
    await given(OWN)
    await pass()
    const asOwn = ['other a gpt 3 5', 'other b gpt 2 2', 't a gpt 3 5', 't b gpt 2 2']
    assert.deepEqual(await rows(), asOwn)
    await given(ROLLED_UP)
    await pass()
    assert.deepEqual(await rows(), ['other a gpt 1 3', 'other b gpt 2 2', 't a gpt 1 3', 't b gpt 2 2'])
  })

  it('ends at the position of the pass that was cut off before it', async () => {
    const { reader, writer } = clickHouse()
    await given(started('a'), ended('a', 1, used(2)))
    await pass()
    await given(started('b'), ended('b', 1, used(3)))
    const target = head()
    const killed = {
      reader,
      writer: {
        ...writer,
        insert: async (written: Rows) => {
          if (written.table === 'usage_totals') throw new Error('killed')
          await writer.insert(written)
        },
      },
    }
    await assert.rejects(runTotalsPass(killed, target), /killed/)
    await given(started('c'), ended('c', 1, used(4)))
    await pass()
    const { tables, ...positions } = await readTotalsState(reader)
    assert.deepEqual(positions, { complete: target, target })
    assert.match(tables, /^\['[0-9a-f-]{36}'/)
    assert.deepEqual(await rows(), ['a gpt 2 2', 'b gpt 3 3'])
    await pass()
    assert.equal((await readTotalsState(reader)).complete, head())
    assert.deepEqual(await rows(), ['a gpt 2 2', 'b gpt 3 3', 'c gpt 4 4'])
  })

  it('goes on to the projected position after a pass that was cut off, also if nothing changes', async () => {
    const { writer } = clickHouse()
    await given(started('a'), ended('a', 1, used(2)))
    await noteTarget(writer, head() - 1n)
    const errors: unknown[] = []
    const totals = startTotals({
      ...clickHouse(),
      reached: head,
      nextInsert: (_, signal) => setTimeout(60_000, undefined, { signal }).catch(() => undefined),
      log: { error: (event) => void errors.push(event) },
      pauseMs: 5,
    })
    try {
      await until(async () => (await readTotalsState(clickHouse().reader)).complete === head(), 10_000)
    } finally {
      await totals.stop()
    }
    assert.deepEqual(errors, [])
    assert.deepEqual(await rows(), ['a gpt 2 2'])
  })

  it('writes nothing while the projector is before the position of a pass that was cut off', async () => {
    await given(started('a'), ended('a', 1, used(2)))
    await clickHouse().writer.insert({
      table: 'checkpoints',
      columns: ['projector', 'position'],
      values: [['usage_totals_target', String(head() + 3n)]],
    })
    await pass()
    assert.deepEqual(await rows(), [])
  })

  it('starts with an empty table when no pass has run', async () => {
    await given(started('a'), ended('a', 1, used(2)))
    await pass()
    for (const table of ['checkpoints', 'usage_facts'])
      await clickHouse().writer.command(`TRUNCATE TABLE ${table}`)
    startLog()
    await given(started('b'), ended('b', 1, used(3)))
    await pass()
    assert.deepEqual(await rows(), ['b gpt 3 3'])
  })
})
