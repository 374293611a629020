import assert from 'node:assert/strict'
import fc from 'fast-check'
import { COUNTS } from '../../counts.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { anEnd, aStart, endItem, startItem } from '../../support/call-requests.js'
import { accepted, eventsOf, refusedElementsOf } from './given.js'

interface Sent {
  readonly item: unknown
  /** What the element is answered when nothing else in the batch speaks of the same call. */
  readonly answer: object
  readonly refused: boolean
}

/** An element of a batch by its kind, for a call of its own. */
const KINDS: Readonly<Record<string, (project: string, id: string) => Sent>> = {
  start: (project, id) => ({
    item: startItem(aStart(project, { id })),
    answer: { id, trace_id: id },
    refused: false,
  }),
  child: (project, id) => ({
    item: startItem(aStart(project, { id, trace_id: 't', parent_id: 'somebody' })),
    answer: { id, trace_id: 't' },
    refused: false,
  }),
  end: (project, id) => ({ item: endItem(anEnd(project, id)), answer: {}, refused: false }),
  'start without a date': (project, id) => ({
    item: startItem({ ...aStart(project, { id }), started_at: 'never' }),
    answer: { id, trace_id: id },
    refused: true,
  }),
  'start of nobody': () => ({ item: startItem({}), answer: {}, refused: true }),
  'end without a summary': (project, id) => ({
    item: endItem({ ...anEnd(project, id), summary: 'none' }),
    answer: {},
    refused: true,
  }),
  'no element': (_project, id) => ({ item: id, answer: {}, refused: true }),
  'null ': () => ({ item: null, answer: {}, refused: true }),
  'unknown mode': (project, id) => ({
    item: { ...startItem(aStart(project, { id })), mode: 'finish' },
    answer: { id, trace_id: id },
    refused: true,
  }),
  'too deep': (project, id) => ({
    item: startItem(
      aStart(project, { id, inputs: { a: JSON.parse('['.repeat(300) + ']'.repeat(300)) as unknown } }),
    ),
    answer: { id, trace_id: id },
    refused: true,
  }),
}

describe('good and bad elements, mixed in any order', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('are each answered and recorded as they would be alone', async () => {
    const kinds = fc.array(fc.constantFrom(...Object.keys(KINDS)), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(kinds, async (names) => {
        const project = someProject()
        const sent = names.map((name, i) => KINDS[name]!(project, `c${i}`))
        const batch = [...sent.map(({ item }) => item), startItem(aStart(project, { id: 'last' }))]

        const answer = await service.post('/call/upsert_batch', { batch })

        assert.deepEqual(accepted(answer)['res'], [
          ...sent.map((one) => one.answer),
          { id: 'last', trace_id: 'last' },
        ])
        const refused = sent.flatMap((one, i) => (one.refused ? [i] : []))
        assert.equal(
          answer.headers.get('tallytree-refused'),
          refused.length > 0 ? String(refused.length) : null,
        )
        const kept = await refusedElementsOf(service, project)
        assert.deepEqual(
          kept.map(({ data }) => (data['loc'] as unknown[])[2]),
          refused,
        )
        assert.deepEqual(
          kept.map(({ data }) => JSON.parse(data['raw'] as string) as unknown),
          refused.map((i) => batch[i]),
        )
        for (const [i, one] of sent.entries()) {
          const written = await eventsOf(service, `call-${project}/c${i}`)
          assert.equal(written.length, one.refused ? 0 : 1)
        }
      }),
      { numRuns: COUNTS.mixedBatches },
    )
  })
})
