import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { feedbackEvents } from '../../../../src/domain/feedback/feedback.js'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { feedbackProjection } from '../../../../src/projections/feedback/project.js'
import { feedbackById, feedbackIds, feedbackOn } from '../../../../src/projections/feedback/queries.js'
import { migrate } from '../../../../src/projections/migrate.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { COUNTS } from '../../../counts.js'
import { arbitraryOf } from '../../../support/arbitrary-of-codec.js'
import { openTestClickHouse } from '../../../support/engine.js'

const IDS = ["it's", '漢字😀', 'a/b']

const arbitraryLife = fc
  .record({
    id: fc.constantFrom(...IDS),
    given: arbitraryOf(feedbackEvents.FeedbackGiven),
    end: fc.constantFrom('FeedbackPurged', 'FeedbackReplaced', null),
  })
  .map(({ id, given, end }) => ({ id, given: { ...given, id, payload: given.payload ?? {} }, end }))

const arbitraryLog = fc
  .uniqueArray(arbitraryLife, { selector: ({ id }) => id, minLength: 1 })
  .map((lives) => [
    ...lives.map(({ given }) => ({ type: 'FeedbackGiven', data: given })),
    ...lives.flatMap(({ id, end }) => (end === null ? [] : [{ type: end, data: { id, replaced_by: 'x' } }])),
  ])

describe('replaying feedback', () => {
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const insert = async (events: readonly ProjectedEvent[]): Promise<void> => {
    for (const rows of feedbackProjection.rowsOf(events)) await clickHouse.writer.insert(rows)
  }

  const answersAt = async (projectId: string, position: bigint) => {
    const { reader } = clickHouse
    const order = [{ field: 'created_at', direction: 'asc' } as const]
    const ids = await feedbackIds(reader)({
      projectId,
      operation: null,
      position,
      order,
      limit: null,
      offset: null,
    })
    const found = await feedbackById(reader)(
      projectId,
      ids.map(({ id }) => id),
      position,
    )
    const on = await feedbackOn(reader)(
      projectId,
      found.map(({ weave_ref }) => weave_ref as string),
      position,
    )
    const named = ({ project_id: _, ...rest }: (typeof found)[number]) => rest
    return { ids, found: found.map(named), on: [...on.values()].flat().map(named) }
  }

  it('in other batches and again from anywhere leaves every answer as it was, at every position', () =>
    fc.assert(
      fc.asyncProperty(arbitraryLog, fc.nat(5), fc.nat(5), async (log, cut, again) => {
        const entity = randomUUID()
        const placed = (project_id: string) =>
          log.map(({ type, data }, at): ProjectedEvent => ({
            type,
            data: { ...data, project_id },
            position: BigInt(at + 1),
          }))
        const [whole, parts] = [placed(`${entity}/whole`), placed(`${entity}/parts`)]
        await insert(whole)
        await insert(parts.slice(0, cut))
        await insert(parts.slice(cut))
        await insert(parts.slice(again))
        for (const [at] of [[], ...log].entries()) {
          const expected = await answersAt(`${entity}/whole`, BigInt(at))
          assert.deepEqual(await answersAt(`${entity}/parts`, BigInt(at)), expected)
          const gone = new Set(
            log.slice(0, at).flatMap(({ type, data }) => (type === 'FeedbackGiven' ? [] : [data.id])),
          )
          const there = log
            .slice(0, at)
            .filter(({ type, data }) => type === 'FeedbackGiven' && !gone.has(data.id))
          assert.deepEqual(expected.ids.map(({ id }) => id).sort(), there.map(({ data }) => data.id).sort())
        }
      }),
      { numRuns: COUNTS.feedbackReplays },
    ))
})
