import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, writesNothing } from '../calls/given.js'
import { clientOf, someRun } from './given.js'

type Row = Readonly<Record<string, unknown>>

const values = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => `{"_step":${from + at},"v":${from + at}}`)

describe('the history of a run of the package wandb', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const someClient = async () => {
    const [project, run] = [someProject(), someRun()]
    const client = clientOf(service, project)
    await client.init(run)
    const all = async () => (await client.run(run, 'history(samples: 10000)')).history as readonly string[]
    const scan = async (until = 1000) =>
      (await client.run(run, `history(minStep: 0, maxStep: ${until}, samples: ${until})`))
        .history as readonly string[]
    const send = (writer: string, offset: number, content: readonly string[]) =>
      service.post(
        `/files/${project}/${run}/file_stream`,
        { files: { 'wandb-history.jsonl': { offset, content } } },
        { headers: { 'X-WANDB-ASYNC-CLIENT-ID': writer } },
      )
    return { project, run, client, all, scan, send }
  }

  it('has lines that arrive below a higher one', async () => {
    const { run, client, all } = await someClient()
    await client.log(run, 0, values(0, 5))
    await client.log(run, 100, values(100, 5))
    await client.log(run, 5, values(5, 5))
    const expected = [...values(0, 5), ...values(100, 5), ...values(5, 5)]
    assert.deepEqual(await all(), expected)
    for (const offset of [0, 100, 5])
      await writesNothing(service, () => client.log(run, offset, values(offset, 5)))
    // A repeat with lines that are new.
    await client.log(run, 3, values(3, 10))
    assert.deepEqual(await all(), [...expected, ...values(10, 3)])
    assert.equal((await client.run(run, 'historyLineCount')).historyLineCount, 18)
  })

  it('has the rows of each of several programs, which number their lines alike', async () => {
    const { all, send } = await someClient()
    const rows = (of: string) => [`{"_step":0,"of":"${of}"}`, '{"_step":1,"same":1}']
    for (const writer of ['a', 'b']) {
      accepted(await send(writer, 0, rows(writer)))
      await writesNothing(service, () => send(writer, 0, rows(writer)))
    }
    assert.deepEqual(await all(), [...rows('a'), ...rows('b')])
  })

  it('has the rows of a program that begins its lines at 0 again', async () => {
    const { run, client, all } = await someClient()
    await client.log(run, 0, values(0, 3))
    await client.log(run, 0, values(50, 3))
    await writesNothing(service, () => client.log(run, 0, values(0, 3)))
    await client.log(run, 1, values(51, 5))
    assert.deepEqual(await all(), [...values(0, 3), ...values(50, 6)])
  })

  it('is one history when the same folder is synchronised twice', async () => {
    const { run, client, all } = await someClient()
    const timed = (of: number) =>
      Array.from({ length: 700 }, (_, at) => ({
        _step: at,
        _runtime: of,
        _timestamp: 1.79e9 + of + at,
        v: at,
      }))
    const rows = timed(0.123456)
    await client.log(
      run,
      0,
      rows.map((row) => JSON.stringify(row)),
    )
    // The package writes the keys of a row in any order.
    const again = rows.map(({ v, ...row }) => JSON.stringify({ v, ...row }))
    await writesNothing(service, () => client.log(run, 700, again))
    const { historyLineCount } = await client.run(run, 'historyLineCount')
    assert.equal(historyLineCount, 700)
    const others = timed(0.654321).map((row) => JSON.stringify(row))
    await client.log(run, 700, others)
    assert.equal((await all()).length, 1400)
  })

  it('has all rows of a page of steps, with keys too', async () => {
    const { run, client, scan } = await someClient()
    const rows = Array.from({ length: 12_000 }, (_, at) => `{"_step":${at % 1000},"v":${at}}`)
    await client.log(run, 0, rows)
    assert.equal((await scan()).length, 12_000)
    assert.equal((await scan(20_000)).length, 12_000)
    const spec = { keys: ['v'], minStep: 0, maxStep: 999, samples: 1000 }
    const { sampledHistory } = await client.run(
      run,
      `sampledHistory(specs: [${JSON.stringify(JSON.stringify(spec))}])`,
    )
    assert.equal(sampledHistory[0].length, 12_000)
  })

  it('has rows without an integer step at the highest step before them, in both reads', async () => {
    const { project, run, client, all, scan } = await someClient()
    const metrics = async (body: Row) =>
      accepted(await service.post(`/api/runs/${project}/${run}/metrics`, body))
    const rows = [
      '{"v":1}',
      '{"_step":7,"v":2}',
      '{"_step":2.5,"v":3}',
      '{"_step":-1,"v":4}',
      '{"_step":2,"v":5}',
    ]
    const others = [
      '{"_step":1e300,"v":6}',
      '{"_step":99999999999999999999,"v":7}',
      '{"_step":"8","v":8}',
      '{"v":9}',
    ]
    await client.log(run, 0, rows)
    await client.log(run, rows.length, others)
    await metrics({ metrics: { v: 10 } })
    await metrics({ metrics: { v: 11 }, step: -5 })
    await metrics({ metrics: { v: 12 }, step: 9 })
    await metrics({ metrics: { v: 13 } })
    const read = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { v: number }).v)
    const expected = Array.from({ length: 13 }, (_, at) => at + 1)
    assert.deepEqual(read(await all()), expected)
    assert.deepEqual(read(await scan()), expected)
    const from = async (minStep: number, maxStep: number) =>
      read((await client.run(run, `history(minStep: ${minStep}, maxStep: ${maxStep}, samples: 500)`)).history)
    assert.deepEqual(await from(0, 1), [1])
    assert.deepEqual(await from(2, 3), [5])
    assert.deepEqual(await from(7, 8), [2, 3, 4, 6, 7, 8, 9, 10, 11])
    assert.deepEqual(await from(8, 100), [12, 13])
    assert.equal((await client.run(run, 'historyKeys')).historyKeys.lastStep, 9)
    const { rows: sampled } = accepted(
      await service.send('GET', `/api/runs/${project}/${run}/history?min_step=7&keys=v`),
    )
    assert.equal((sampled as readonly Row[]).length, 11)
  })

  it('has its rows at step 0 if none has a step', async () => {
    const { run, client, scan } = await someClient()
    await client.log(run, 0, ['{"v":1}', '{"v":2}'])
    assert.equal((await client.run(run, 'historyKeys')).historyKeys.lastStep, 0)
    assert.deepEqual(await scan(1), ['{"v":1}', '{"v":2}'])
  })

  it('keeps the least and the greatest value of each stretch when it is sampled by keys', async () => {
    const { project, run, client } = await someClient()
    const value = (at: number) => (at === 4321 ? 99 : at === 7654 ? -99 : at === 10 ? 'NaN' : 0)
    const rows = Array.from({ length: 9000 }, (_, at) => `{"_step":${at},"v":${value(at)},"w":${at}}`)
    await client.log(run, 0, rows)
    const sampled = async (samples: number) =>
      accepted(await service.send('GET', `/api/runs/${project}/${run}/history?keys=v,w&samples=${samples}`))[
        'rows'
      ] as readonly { v: number; _step: number }[]
    for (const samples of [6, 50, 500]) {
      const read = await sampled(samples)
      assert.ok(read.length <= samples && read.length > samples / 2)
      assert.deepEqual([read[0]!._step, read.at(-1)!._step], [0, 8999])
      assert.ok(read.some(({ v }) => v === 99) && read.some(({ v }) => v === -99))
      assert.deepEqual(
        read,
        [...read].sort((a, b) => a._step - b._step),
      )
    }
    assert.deepEqual(
      (await sampled(3)).map(({ _step }) => _step),
      [0, 4499, 8999],
    )
  })
})
