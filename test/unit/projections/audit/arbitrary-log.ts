import fc from 'fast-check'
import { annotationQueueEvents } from '../../../../src/domain/annotation-queues/queue.js'
import { annotationItemEvents } from '../../../../src/domain/annotation-queues/item.js'
import { feedbackEvents } from '../../../../src/domain/feedback/feedback.js'
import { fileEvents } from '../../../../src/domain/files/file.js'
import { priceEvents } from '../../../../src/domain/prices/events.js'
import { tableEvents } from '../../../../src/domain/tables/table.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { arbitraryOf } from '../../../support/arbitrary-of-codec.js'
import { arbitraryDeeds } from '../../../support/object-model.js'
import { arbitraryHistory } from '../arbitrary-history.js'
import { arbitraryLife } from '../webhooks/lives.js'
import { logOf } from '../objects/object-log.js'

export type Happened = Pick<ProjectedEvent, 'type' | 'data'>

const PROJECT = "any/it's"

const arbitraryFeedback = fc
  .array(fc.record({ given: arbitraryOf(feedbackEvents.FeedbackGiven), purged: fc.boolean() }), {
    maxLength: 4,
  })
  .map((lives) =>
    lives.flatMap(({ given, purged }, at): Happened[] => [
      { type: 'FeedbackGiven', data: { ...given, id: `f${at}` } },
      ...(purged ? [{ type: 'FeedbackPurged', data: { project_id: '', id: `f${at}` } }] : []),
    ]),
  )

/** The events of each stream in their order, each stream with an id of its own. */
const arbitraryQueues = fc
  .array(
    fc.tuple(
      arbitraryOf(annotationQueueEvents.AnnotationQueueCreated),
      arbitraryOf(annotationQueueEvents.AnnotationQueueDeleted),
      arbitraryOf(annotationItemEvents.AnnotationItemAdded),
      arbitraryOf(annotationItemEvents.AnnotationItemProgressed),
      arbitraryOf(fileEvents.FileStored),
    ),
    { maxLength: 3 },
  )
  .map((lives) =>
    lives.flatMap(([created, deleted, added, progressed, stored], at): Happened[] => [
      { type: 'AnnotationQueueCreated', data: { ...created, id: `q${at}` } },
      { type: 'AnnotationItemAdded', data: { ...added, queue_id: `q${at}`, id: 'i' } },
      { type: 'AnnotationItemProgressed', data: { ...progressed, queue_id: `q${at}`, id: 'i' } },
      { type: 'FileStored', data: { ...stored, digest: `d${at}` } },
      { type: 'EndUserAttributeChosen', data: { end_user_attribute: `customer.key${at}` } },
      { type: 'AnnotationQueueDeleted', data: { ...deleted, id: `q${at}` } },
    ]),
  )

const arbitraryPrices = fc
  .array(fc.record({ published: arbitraryOf(priceEvents.PricePublished), withdrawn: fc.boolean() }), {
    maxLength: 4,
  })
  .map((lives) =>
    lives.flatMap(({ published, withdrawn }, at): Happened[] => [
      { type: 'PricePublished', data: { ...published, id: `p${at}` } },
      ...(withdrawn ? [{ type: 'PriceWithdrawn', data: { list: null, id: `p${at}` } }] : []),
    ]),
  )

const unlike = (digest: string, at: number, row = 0): string =>
  digest.slice(0, 39) + String(at * 100 + row + 1000)

const arbitraryTables = fc
  .array(
    fc.record({
      stored: arbitraryOf(tableEvents.TableRowsStored),
      published: arbitraryOf(tableEvents.TablePublished),
    }),
    { maxLength: 4 },
  )
  .map((tables) =>
    tables.flatMap(({ stored, published }, at): Happened[] => {
      const digest = unlike(stored.digest, at)
      const rows = (stored.rows ?? []).map((row, index) => ({
        ...row,
        digest: unlike(row.digest, at, index),
      }))
      return [
        { type: 'TableRowsStored', data: { ...stored, digest, rows } },
        { type: 'TablePublished', data: { ...published, digest } },
      ]
    }),
  )

const arbitraryObjects = arbitraryDeeds.map((deeds): readonly Happened[] =>
  logOf('any/project', deeds).events.map(({ type, data }) => ({ type, data })),
)

const arbitraryDelivery = arbitraryLife('dlv_1').map(({ events }): readonly Happened[] =>
  events.map(({ type, data }) => ({ type, data })),
)

/** A log that a service could have written about one project: the histories of its things, interleaved anyhow. */
export const arbitraryLog: fc.Arbitrary<readonly Happened[]> = fc
  .tuple(
    fc.tuple(
      ...[arbitraryHistory, arbitraryObjects, arbitraryFeedback, arbitraryTables, arbitraryPrices],
      ...[arbitraryDelivery, arbitraryQueues],
    ),
    fc.infiniteStream(fc.nat(6)),
  )
  .map(([histories, turns]) => interleaved(histories, turns))

const interleaved = (
  histories: readonly (readonly Happened[])[],
  turns: Iterator<number>,
): readonly Happened[] => {
  const log: Happened[] = []
  const left = histories.map((history) => [...history])
  while (left.some(({ length }) => length > 0)) {
    const turn = turns.next().value as number
    const next = left[turn]?.shift()
    if (next !== undefined) log.push({ ...next, data: { ...(next.data as object), project_id: PROJECT } })
  }
  return log
}
