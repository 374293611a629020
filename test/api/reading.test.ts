import assert from 'node:assert/strict'
import { instantOf } from '../../src/kernel/codec/instant.js'
import {
  NO_CONDITIONS,
  readingFrom,
  type History,
  type ReadableProjection,
} from '../../src/application/reading/reading.js'
import { Failure } from '../../src/application/failure.js'
import type { TestService } from '../support/service.js'
import { sharedService, someProject } from './shared-service.js'
import { anEnd, aStart, startItem } from '../support/call-requests.js'
import { accepted, reasonOf } from './calls/given.js'

const READS: Readonly<Record<string, object>> = {
  '/call/read': { id: 'c' },
  '/calls/query': {},
  '/calls/stream_query': {},
  '/calls/query_stats': {},
  '/trace/usage': {},
  '/calls/usage': { call_ids: ['c'] },
}

describe('a read', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const read = (path: string, project_id: string, headers: Record<string, string> = {}) =>
    service.post(path, { project_id, ...READS[path] }, { headers })

  const started = async (project: string, id = 'c') => {
    const answer = await service.in(project).calls.start({ id })
    accepted(answer)
    return BigInt(answer.headers.get('tallytree-position')!)
  }

  const positionOf = (answer: { headers: Headers }) => BigInt(answer.headers.get('tallytree-position') ?? -1)

  for (const path of Object.keys(READS))
    it(`sees what was acknowledged, every time: ${path}`, async () => {
      for (let i = 0; i < 3; i += 1) {
        const project = someProject()
        const written = await started(project)
        const answer = await read(path, project)
        assert.equal(answer.status, 200)
        assert.match(answer.text, path === '/calls/query_stats' ? /"count":1/ : /"c"/)
        assert.ok(positionOf(answer) >= written)
      }
    })

  for (const path of Object.keys(READS))
    it(`waits for a position that is asked for: ${path}`, async () => {
      const project = someProject()
      const position = await started(project)
      for (const asked of ['0', '1', String(position), `000${position}`]) {
        const answer = await read(path, project, { 'Tallytree-Min-Position': asked })
        assert.equal(answer.status, 200)
        assert.ok(positionOf(answer) >= position)
      }
    })

  it('far beyond the head is not possible yet, and says when to try again', async () => {
    const project = someProject()
    await started(project)
    const paths = Object.keys(READS)
    const answers = await Promise.all(
      paths.map((path, i) =>
        read(path, project, { 'Tallytree-Min-Position': i % 2 === 0 ? '9'.repeat(19) : '99999999' }),
      ),
    )
    for (const answer of answers) {
      assert.match(reasonOf(answer, 503), /Tallytree-Stale: allow/)
      assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    }
  })

  it('that may be stale is answered at once, whatever position is asked for', async () => {
    const project = someProject()
    for (const path of Object.keys(READS)) {
      const headers = { 'Tallytree-Min-Position': '9'.repeat(19), 'Tallytree-Stale': 'allow' }
      const answer = await read(path, project, headers)
      assert.equal(answer.status, 200)
      assert.ok(positionOf(answer) > 0n)
    }
  })

  it('has a position in decimal digits', async () => {
    for (const path of Object.keys(READS))
      for (const asked of ['', 'now', '-1', '+1', '1.5', '1e3', '0x10', '1 2', '1,2', '9'.repeat(20)]) {
        const answer = await read(path, someProject(), { 'Tallytree-Min-Position': asked })
        assert.equal(answer.status, 422, asked)
        assert.match(answer.text, /"loc":\["header","Tallytree-Min-Position"\]/)
      }
  })
})

describe('every answer about a project', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  it('says which position it speaks of, also where nothing was written', async () => {
    const project_id = someProject()
    const requests: readonly (readonly [string, object])[] = [
      ['/call/start', { start: aStart(project_id, { id: 'c' }) }],
      ['/call/end', { end: anEnd(project_id, 'c') }],
      [`/v2/${project_id}/call/start`, { start: aStart(project_id, { id: 'd' }) }],
      [`/v2/${project_id}/calls/complete`, { batch: [] }],
      [`/v2/${project_id}/calls/complete`, { batch: ['odd'] }],
      ['/call/upsert_batch', { batch: [startItem(aStart(project_id, { id: 'e' })), {}] }],
      ['/call/update', { project_id, call_id: 'c', display_name: 'name' }],
      ['/obj/create', { obj: { project_id, object_id: 'o', val: 1 } }],
      ...Object.entries(READS).map(([path, more]) => [path, { project_id, ...more }] as const),
      ['/calls/usage', { project_id, call_ids: [] }],
      ['/calls/query_stats', { project_id, filter: { thread_ids: [] } }],
      ['/calls/delete', { project_id, call_ids: ['unknown'] }],
      ['/calls/delete', { project_id, call_ids: [] }],
      ['/calls/delete', { project_id, call_ids: ['e'] }],
    ]
    for (const time of ['first', 'second'])
      for (const [path, body] of requests) {
        const answer = await service.post(path, body)
        assert.equal(answer.status, 200, path)
        assert.match(answer.headers.get('tallytree-position') ?? '', /^\d+$/, `${path} the ${time} time`)
      }
  })
})

describe('what a process remembers of its writes', () => {
  /** A projector that has come to a position and no further. */
  const standing = (at: bigint): ReadableProjection & { asked: bigint[] } => {
    const asked: bigint[] = []
    return {
      asked,
      reached: () => at,
      generation: () => '',
      waitFor: (position) => Promise.resolve(asked.push(position) > 0 && position <= at),
    }
  }

  const NO_HISTORY: History = {
    head: () => Promise.resolve(0n),
    lastBy: () => Promise.resolve(0n),
    now: () => instantOf(new Date(0)),
  }

  it('is one position a project, never an earlier one', async () => {
    const projector = standing(100n)
    const reading = readingFrom(projector, NO_HISTORY, 5n)
    assert.equal(reading.ackPosition('a/b', 40n), 40n)
    assert.equal(reading.ackPosition('a/b', 30n), 30n)
    assert.equal(reading.ackPosition('a/b', undefined), 40n)
    assert.equal(reading.ackPosition('c/d', undefined), 5n)
    await reading.waitForAsOf('a/b', NO_CONDITIONS)
    await reading.waitForAsOf('c/d', NO_CONDITIONS)
    await reading.waitForAsOf('c/d', { ...NO_CONDITIONS, minPosition: 70n })
    await reading.waitForAsOf('a/b', { ...NO_CONDITIONS, minPosition: 7n })
    assert.deepEqual(projector.asked, [40n, 5n, 70n, 40n])
  })

  it('is still waited for when there were too many projects to remember each', async () => {
    const projector = standing(0n)
    const reading = readingFrom(projector, NO_HISTORY, 0n)
    for (let i = 1; i <= 25_000; i += 1) reading.ackPosition(`a/p${i}`, BigInt(i))
    for (const i of [1, 5000, 14_999, 15_000, 25_000]) {
      projector.asked.length = 0
      await assert.rejects(reading.waitForAsOf(`a/p${i}`, NO_CONDITIONS), Failure)
      assert.ok(projector.asked[0]! >= BigInt(i))
    }
  })
})
