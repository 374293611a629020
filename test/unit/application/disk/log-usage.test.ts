import assert from 'node:assert/strict'
import { logUsage, timeIn } from '../../../../src/application/disk/log-usage.js'
import {
  bytesText,
  rowsOfBlobs,
  rowsOfEvents,
  tableText,
  type DiskRow,
} from '../../../../src/application/disk/report.js'
import type { JsonObject } from '../../../../src/kernel/json/json.js'
import type { RecordedEvent } from '../../../../src/kernel/ports/event-store.js'

const CUTOFF = new Date('2026-06-01T00:00:00Z')
const [BEFORE, AFTER] = ['2026-05-31T23:59:59Z', '2026-06-01T00:00:00Z']

const eventOf = (type: string, data: JsonObject, stream = 'call-team/project/a'): RecordedEvent => ({
  ...{ id: 'id', type, stream, revision: 0n, position: 1n, recordedAt: new Date(AFTER) },
  metadata: { correlationId: 'c', causationId: 'c', actor: 'user', schemaVersion: 1 },
  data,
  size: 1000,
})
const started = (started_at: string, spilled: readonly string[] = [], project = 'team/project') =>
  eventOf(
    'CallStarted',
    {
      project_id: project,
      started_at,
      attributes: {},
      inputs: { text: 'x'.repeat(500) },
      spilled: Object.fromEntries(spilled.map((digest) => [digest, { digest, size: 10, canonical: digest }])),
    },
    `call-${project}/a`,
  )
const usageOf = (events: readonly RecordedEvent[], cutoff?: Date) => {
  const usage = logUsage(cutoff)
  for (const event of events)
    usage.add({ ...event, data: () => event.data, time: () => timeIn(event.data), mayNameBlobs: true })
  return usage
}

describe('what a log takes', () => {
  it('is counted by project and type, and shares the bytes of the file', () => {
    const { events } = usageOf([
      started(BEFORE),
      started(AFTER),
      started(AFTER, [], 'team/other'),
      eventOf('TeamCreated', {}, 'access-directory'),
    ])
    assert.deepEqual(rowsOfEvents(events(), 4000), [
      { project: 'team/project', kind: 'events: CallStarted', items: 2, bytes: 2000, givenBack: 0 },
      { project: 'team/other', kind: 'events: CallStarted', items: 1, bytes: 1000, givenBack: 0 },
      { project: undefined, kind: 'events: TeamCreated', items: 1, bytes: 1000, givenBack: 0 },
    ])
    assert.deepEqual(rowsOfEvents([], 4000), [])
  })

  it('is given back where content is older than the policy, and was not erased', () => {
    const { events, content } = usageOf(
      [started(BEFORE), started(AFTER), eventOf('CallStarted', { ...started(BEFORE).data, erased: true })],
      CUTOFF,
    )
    const { erasable, size } = events()[0]!
    assert.ok(erasable > 350 && erasable < 900, String(erasable))
    assert.equal(size, 3 * 1250)
    assert.equal(content().all, 3 * content().erasable)
  })

  it('counts a payload for the first event that names it, and gives it back only if no other event keeps it', () => {
    const { blobs } = usageOf(
      [
        started(BEFORE, ['old', 'shared']),
        started(AFTER, ['shared', 'young'], 'team/other'),
        eventOf('FileStored', { blob: 'file' }, 'file-team/project/x'),
      ],
      CUTOFF,
    )
    const sizes = [
      ['old', 1],
      ['shared', 2],
      ['young', 4],
      ['file', 8],
      ['unknown', 16],
    ] as const
    assert.deepEqual(rowsOfBlobs(sizes, blobs), [
      { project: undefined, kind: 'payloads that no event names', items: 1, bytes: 16, givenBack: 0 },
      { project: 'team/project', kind: 'files', items: 1, bytes: 8, givenBack: 0 },
      { project: 'team/other', kind: 'content of calls', items: 1, bytes: 4, givenBack: 0 },
      { project: 'team/project', kind: 'content of calls', items: 2, bytes: 3, givenBack: 1 },
    ])
  })

  it('is a table of the largest rows', () => {
    const rows = Array.from({ length: 50 }, (_, n): DiskRow => ({
      project: n === 0 ? 'team/project' : undefined,
      kind: `kind ${n}`,
      items: 1234,
      bytes: 1_000_000 - n,
      givenBack: n === 0 ? 1 : 0,
    }))
    const lines = tableText(rows, 30).split('\n')
    assert.match(lines[0]!, /^project +kind +items +size +after 30 days$/)
    assert.match(lines[1]!, /^team\/project +kind 0 +1,234 +1\.0 MB +1 B$/)
    assert.match(lines[41]!, /^\(all\) +smaller ones; --json lists them +12,340 +10\.0 MB$/)
    assert.equal(lines[0]!.length, lines[1]!.length)
    assert.match(lines[42]!, /^total +50\.0 MB +1 B$/)
    assert.doesNotMatch(tableText(rows, undefined), /after/)
  })

  it('shows sizes with two or three digits', () => {
    for (const [bytes, text] of [
      [0, '0 B'],
      [999, '999 B'],
      [1000, '1.0 KB'],
      [99_940, '99.9 KB'],
      [99_960, '100 KB'],
      [999_499, '999 KB'],
      [999_600, '1.0 MB'],
      [12_300_000_000_000_000, '12300 TB'],
    ] as const)
      assert.equal(bytesText(bytes), text)
  })
})
