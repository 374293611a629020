import assert from 'node:assert/strict'
import { aCompleted, endItem, startItem } from '../../support/call-requests.js'
import type { Answered } from '../../support/client.js'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { rejectedIn, typesOf, writesNothing } from './given.js'

type Part = 'start' | 'end' | 'complete'
const PARTS: readonly Part[] = ['start', 'end', 'complete']
const OTHER: Readonly<Record<Part, object>> = {
  start: { op_name: 'other' },
  end: { output: 'other' },
  complete: { op_name: 'other', output: 'other' },
}
const partsOf = (part: Part): readonly string[] => (part === 'complete' ? ['start', 'end'] : [part])
const overlap = (a: Part, b: Part): boolean => partsOf(a).some((part) => partsOf(b).includes(part))

describe('a call written again', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  /** Whether the write of a part of the call was recorded, or answered as a repeat. */
  type Write = (project: string, part: Part, more?: object) => Promise<'accepted' | 'conflict'>
  const call = (project: string, more: object = {}) =>
    aCompleted(project, { id: 'c', trace_id: 'c', ...more })

  const alone: Write = async (project, part, more) => {
    if (part === 'complete') return inBatch(project, part, more)
    const answer = await service.post(`/call/${part}`, { [part]: call(project, more) })
    assert.ok(answer.status === 200 || answer.status === 409, answer.text)
    return answer.status === 200 ? 'accepted' : 'conflict'
  }
  const send = (project: string, part: Part, calls: readonly object[]): Promise<Answered> =>
    part === 'complete'
      ? service.post(`/v2/${project}/calls/complete`, { batch: calls })
      : service.post('/call/upsert_batch', {
          batch: calls.map((one) => (part === 'start' ? startItem(one) : endItem(one))),
        })
  const inBatch: Write = async (project, part, more) => {
    const neighbours = [aCompleted(project), aCompleted(project)] as const
    const answer = await send(project, part, [neighbours[0], call(project, more), neighbours[1]])
    const rejected = rejectedIn(answer)
    if (part !== 'end') assert.ok(await service.in(project).calls.read(neighbours[1].id))
    assert.ok(['', 'conflict 1'].includes(rejected.join()), rejected.join())
    return rejected.length === 0 ? 'accepted' : 'conflict'
  }

  for (const [how, write] of Object.entries({ alone, 'in a batch': inBatch }))
    for (const first of PARTS)
      for (const second of PARTS) {
        it(`${how}: ${second} after ${first} of the same content is accepted, and written once`, async () => {
          const project = someProject()
          assert.equal(await write(project, first), 'accepted')
          assert.equal(await write(project, second), 'accepted')
          const types = [...new Set([...partsOf(first), ...partsOf(second)])].sort()
          assert.deepEqual(
            (await typesOf(service, project, 'c')).toSorted(),
            types.map((part) => (part === 'start' ? 'CallStarted' : 'CallEnded')).toSorted(),
          )
        })

        it(`${how}: ${second} after ${first} of other content is told where both have a part`, async () => {
          const project = someProject()
          assert.equal(await write(project, first), 'accepted')
          const expected = overlap(first, second) ? 'conflict' : 'accepted'
          assert.equal(await write(project, second, OTHER[second]), expected)
          assert.equal(await write(project, second, OTHER[second]), expected)
          assert.equal(await write(project, first), 'accepted')
        })

        it(`${how}: ${second} after ${first} and a deletion is told`, async () => {
          const project = someProject()
          assert.equal(await write(project, first), 'accepted')
          const { num_deleted } = await service.in(project).calls.delete('c').json()
          assert.equal(num_deleted, 1)
          const types = await typesOf(service, project, 'c')
          assert.equal(await write(project, second), 'conflict')
          assert.equal(await write(project, second, OTHER[second]), 'conflict')
          assert.deepEqual(await typesOf(service, project, 'c'), types)
        })
      }

  it('twice in one batch is accepted with the same content and told with another', async () => {
    for (const part of PARTS) {
      const project = someProject()
      const same = call(project)
      const other = call(project, OTHER[part])
      assert.deepEqual(rejectedIn(await send(project, part, [same, same, other, same])), ['conflict 2'])
      await writesNothing(service, async () =>
        assert.deepEqual(rejectedIn(await send(project, part, [other, same, other])), [
          'conflict 0',
          'conflict 2',
        ]),
      )
    }
  })
})
