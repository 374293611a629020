import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { callsProjection } from '../../../../src/projections/calls/project.js'
import { withInheritedDeletions } from '../../../../src/projections/calls/inherited-deletions.js'
import { migrate } from '../../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { usageProjection } from '../../../../src/projections/usage/project.js'
import { given } from '../../domain/calls/arbitrary.js'
import { deleteCall, startCall } from '../../domain/calls/arbitrary.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'

const CALLS = 6
const ids = Array.from({ length: CALLS }, (_, n) => `c${n}`)

/** Calls with parents of any kind, in two traces, in an order of starts, each followed by deletions. */
const arbitraryLog = fc.record({
  parents: fc.array(fc.option(fc.nat(CALLS - 1)), { minLength: CALLS, maxLength: CALLS }),
  traces: fc.array(fc.constantFrom('t', 't', 't', 'u'), { minLength: CALLS, maxLength: CALLS }),
  order: fc.shuffledSubarray(ids, { minLength: 3 }),
  deletions: fc.array(fc.record({ after: fc.nat(CALLS), call: fc.nat(CALLS - 1) }), { maxLength: 3 }),
  cuts: fc.array(fc.nat(12), { maxLength: 5 }),
  again: fc.nat(12),
})
type Log = typeof arbitraryLog extends fc.Arbitrary<infer A> ? A : never

describe('deletions of calls below deleted ones', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const eventsOf = ({ parents, traces, order, deletions }: Log, project: string): ProjectedEvent[] => {
    const events: Omit<ProjectedEvent, 'position'>[] = []
    const gone = new Set<string>()
    for (const [at, id] of order.entries()) {
      const n = ids.indexOf(id)
      const parent = parents[n] ?? null
      const start = startCall(id, {
        project_id: project,
        trace_id: traces[n]!,
        parent_id: parent === null ? null : ids[parent]!,
      })
      events.push(...given(start).events)
      for (const { after, call } of deletions) {
        const deleted = order.slice(0, at + 1)[call]
        if (after !== at || deleted === undefined || gone.has(deleted)) continue
        gone.add(deleted)
        const begun = startCall(deleted, { project_id: project, trace_id: traces[ids.indexOf(deleted)]! })
        events.push(...given(begun, { ...deleteCall(deleted), project_id: project }).events.slice(1))
      }
    }
    return events.map((event, n) => ({ ...event, position: BigInt(n + 1) }))
  }

  /** The first position at which a call or one above it is deleted. */
  const expected = (events: readonly ProjectedEvent[]): Readonly<Record<string, number>> => {
    const found: Record<string, number> = {}
    const starts = new Map<string, { parent_id: string | null; trace_id: string }>()
    const deleted = new Set<string>()
    for (const { type, data, position } of events) {
      const call = data as { id: string; parent_id: string | null; trace_id: string }
      if (type === 'CallStarted') starts.set(call.id, call)
      else deleted.add(call.id)
      for (const id of starts.keys()) {
        const seen = new Set<string>()
        for (let at: string | null = id; at !== null && !seen.has(at);) {
          seen.add(at)
          if (deleted.has(at)) found[id] ??= Number(position)
          const above: string | null = starts.get(at)?.parent_id ?? null
          at = above !== null && starts.get(above)?.trace_id === starts.get(at)?.trace_id ? above : null
        }
      }
    }
    return found
  }

  const insert = async (events: readonly ProjectedEvent[]) => {
    const all = await withInheritedDeletions(clickHouse.writer, events)
    for (const { rowsOf } of [callsProjection, usageProjection])
      for (const rows of rowsOf(all)) await clickHouse.writer.insert(rows)
  }

  const stored = async (table: string, id: string, project: string) => {
    const rows = await clickHouse.writer.query<{ id: string; at: string }>(
      `SELECT ${id} AS id, toString(min(deleted_position)) AS at FROM ${table} FINAL
      WHERE project_id = {project:String} AND deleted_position > 0 GROUP BY id`,
      { project },
    )
    return Object.fromEntries(rows.map((row) => [row.id, Number(row.at)]))
  }

  it('are at the same positions however events are batched, and when they come again', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryLog, async (log) => {
        const project = `team/${randomUUID()}`
        const events = eventsOf(log, project)
        const cuts = [0, ...log.cuts, events.length].sort((a, b) => a - b)
        for (const [n, cut] of cuts.entries()) await insert(events.slice(cut, cuts[n + 1]))
        await insert(events.slice(log.again))
        assert.deepEqual(await stored('calls', 'id', project), expected(events))
        assert.deepEqual(await stored('usage_facts', 'call_id', project), expected(events))
      }),
      { numRuns: COUNTS.inheritedDeletions },
    )
  })

  it('cost a project without deletions one query, at the first batch', async () => {
    const asked: string[] = []
    const query = <Row>(sql: string) => {
      asked.push(sql)
      return Promise.resolve([] as readonly Row[])
    }
    const start = startCall('c', { parent_id: 'p' })
    const events = given(start).events.map((event) => ({ ...event, position: 1n }))
    const clickHouse = { query }
    for (let n = 0; n < 3; n += 1) assert.deepEqual(await withInheritedDeletions(clickHouse, events), events)
    assert.equal(asked.length, 1)
  })
})
