import assert from 'node:assert/strict'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { tallytree } from '../support/command.js'
import { startRunningService, type RunningService } from '../support/running-service.js'
import { until } from '../support/until.js'

interface Row {
  readonly project: string | null
  readonly kind: string
  readonly items: number
  readonly bytes: number
  readonly given_back?: number
}

interface Report {
  readonly content_days?: number
  readonly rows: readonly Row[]
  readonly not_counted: readonly string[]
}

const OLD = '2025-01-01T00:00:00Z'
const LARGE = 300_000

describe('tallytree disk', () => {
  let service: RunningService
  before(async () => {
    service = await startRunningService()
    const now = new Date().toISOString()
    const call = (id: string, started_at: string, characters: number) => ({
      start: { id, started_at, inputs: { text: id.padEnd(characters, id) } },
    })
    const old = Array.from({ length: 40 }, (_, n) => call(`old-${n}`, OLD, 3000))
    const young = Array.from({ length: 40 }, (_, n) => call(`young-${n}`, now, 3000))
    await service.in('acme/support').calls.batch([...old, ...young])
    await service.in('acme/support').calls.batch([call('large-old', OLD, LARGE), call('large', now, LARGE)])
    await service.in('acme/other').calls.batch([call('a', now, 10), call('large-other', now, LARGE)])
  })
  after(() => service.remove())

  const command = (...args: readonly string[]) =>
    tallytree(['disk', ...args], {
      TALLYTREE_DATA_DIR: service.dataDirectory,
      TALLYTREE_PORT: new URL(service.address).port,
      TALLYTREE_API_KEY: service.key,
    })
  const report = async (...args: readonly string[]): Promise<Report> => {
    const { code, stdout, stderr } = await command('--json', ...args)
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Report
  }
  const rowOf = ({ rows }: Report, project: string | null, kind: string): Row => {
    const found = rows.find((row) => row.project === project && row.kind === kind)
    assert.ok(found, `${project} ${kind}`)
    return found
  }
  const bytesOfFiles = async (): Promise<number> => {
    const entries = await readdir(service.dataDirectory, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile())
    const sizes = await Promise.all(
      files.map(async (file) => (await stat(join(file.parentPath, file.name))).size),
    )
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  it('counts the events and the content of each project while the service runs', async () => {
    const found = await report()
    const events = rowOf(found, 'acme/support', 'events: CallStarted')
    assert.equal(events.items, 82)
    assert.ok(events.bytes > rowOf(found, 'acme/other', 'events: CallStarted').bytes)
    assert.equal(rowOf(found, 'acme/other', 'events: CallStarted').items, 2)
    assert.equal(rowOf(found, 'acme/support', 'content of calls').items, 2)
    assert.equal(rowOf(found, 'acme/other', 'content of calls').items, 1)
    assert.ok(rowOf(found, null, 'read models: calls').bytes > 1000)
    assert.ok(rowOf(found, null, 'signed tree of the log').bytes > 0)
    assert.deepEqual(found.not_counted, [])
    assert.equal(events.given_back, undefined)
  })

  it('prints a table with what a policy gives back', async () => {
    const { code, stdout } = await command('--content-days', '90')
    assert.equal(code, 0)
    const [head, ...lines] = stdout.trimEnd().split('\n')
    assert.match(head!, /^project +kind +items +size +after 90 days$/)
    assert.match(stdout, /^acme\/support +events: CallStarted +82 +[\d.]+ [KM]B +[\d.]+ KB$/m)
    assert.match(lines.at(-1)!, /^total +[\d.]+ MB +[\d.]+ KB$/)
    assert.equal(lines.length, 42)
    assert.match(lines.at(-2)!, /^\(all\) +smaller ones; --json lists them/)
  })

  it('counts every file of a stopped service once', async () => {
    await service.stop()
    const { rows } = await report()
    const sum = rows.reduce((total, { bytes }) => total + bytes, 0)
    assert.ok(Math.abs(sum - (await bytesOfFiles())) <= rows.length, String(sum))
    await service.restart()
  })

  it('says what the policy then gives back', async () => {
    const before = await report('--content-days', '90')
    const content = rowOf(before, 'acme/support', 'content of calls')
    assert.ok(content.given_back! > 0 && content.given_back! < content.bytes)
    assert.equal(rowOf(before, 'acme/other', 'content of calls').given_back, 0)
    const events = rowOf(before, 'acme/support', 'events: CallStarted')
    assert.ok(events.given_back! > 0.3 * events.bytes && events.given_back! < 0.5 * events.bytes)

    const path = '/api/projects/acme/support'
    const set = await service.send('PUT', path, { retention: { content_days: 90 } })
    assert.equal(set.status, 200, set.text)
    await until(async () => {
      const { data } = (await service.send('GET', `${path}/erasures`)).json<{ data: { state: string }[] }>()
      return data.length > 0 && data.every(({ state }) => state === 'finished')
    })

    const after = await report('--content-days', '90')
    const left = rowOf(after, 'acme/support', 'content of calls')
    assert.equal(left.bytes, content.bytes - content.given_back!)
    assert.equal(left.given_back, 0)
    assert.equal(rowOf(after, 'acme/support', 'events: CallStarted').given_back, 0)
  })

  it('refuses a directory without a log, and other options', async () => {
    const empty = await tallytree(['disk'], { TALLYTREE_DATA_DIR: join(service.dataDirectory, 'blobs') })
    assert.deepEqual([empty.code, /does not contain a log/.test(empty.stderr)], [2, true])
    for (const args of [['--content-days', 'many'], ['--content-days', '0'], ['--project', 'a/b'], ['x']])
      assert.equal((await command(...args)).code, 2)
    const onServer = await tallytree(['disk', '--content-days', '90'], {
      EVENTSTORE_URL: 'esdb://user:word@host:1',
    })
    assert.deepEqual([onServer.code, /an EventStoreDB cannot erase content/.test(onServer.stderr)], [2, true])
  })
})
