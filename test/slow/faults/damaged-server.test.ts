import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  describeWithClickHouseServer,
  startClickHouseServer,
  type ClickHouseServer,
} from '../../support/clickhouse-server.js'
import { answersOf, assertHeals, writeAll } from '../../support/faults/damaged-answers.js'
import { startRunningService, type RunningService } from '../../support/running-service.js'

/** Within this time a running service that is read looks at its tables. */
const LOOKS_MS = 12_000

describeWithClickHouseServer('a service whose ClickHouse server lost something', () => {
  let server: ClickHouseServer
  let service: RunningService
  let truth: Awaited<ReturnType<typeof answersOf>>
  before(async () => {
    server = await startClickHouseServer()
    service = await startRunningService({ CLICKHOUSE_URL: `${server.url}/lost` })
    await writeAll(service)
    do truth = await answersOf(service)
    while (truth.some(({ status }) => status !== 200))
    await sleep(1500)
  })
  after(async () => {
    await service.remove()
    await server.stop()
  })

  const DAMAGES: Readonly<Record<string, string>> = {
    'a table that was dropped': 'DROP TABLE lost.calls SYNC',
    'a table that was emptied': 'TRUNCATE TABLE lost.usage_totals',
    'facts that were emptied': 'TRUNCATE TABLE lost.usage_facts',
    'a column that was dropped': 'ALTER TABLE lost.calls DROP COLUMN display_name',
    'checkpoints that were emptied': 'TRUNCATE TABLE lost.checkpoints',
    'a partition that was dropped': 'ALTER TABLE lost.feedback DROP PARTITION tuple()',
    'a database that was dropped': 'DROP DATABASE lost SYNC',
  }
  for (const [title, statement] of Object.entries(DAMAGES)) {
    const what = (said: number) => () => `${statement}\n${service.output().slice(said)}`

    it(`fills ${title} again while it runs`, async () => {
      const said = service.output().length
      await server.ask(statement)
      const until = performance.now() + LOOKS_MS
      while (!service.output().slice(said).includes('"projection.tables_damaged"'))
        if (performance.now() > until) assert.fail(what(said)())
        else await answersOf(service)
      await assertHeals(service, truth, what(said))
      await sleep(1500)
    })

    it(`fills ${title} again at its start`, async () => {
      await service.stop()
      const said = service.output().length
      await server.ask(statement)
      await service.restart()
      await assertHeals(service, truth, what(said))
      await sleep(1500)
    })
  }
})

/** Other requests of tests are repeated while they are refused. */
const readOnce = async ({ address, key }: RunningService) => {
  const answer = await fetch(`${address}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project_id: 'default/both' }),
  })
  return { status: answer.status, text: await answer.text() }
}

describeWithClickHouseServer('two services that start together on one empty database', () => {
  let server: ClickHouseServer
  before(async () => (server = await startClickHouseServer()))
  after(() => server.stop())

  for (let round = 0; round < 3; round += 1)
    it(`have one owner, and answer with their own calls or not at all (${round})`, async () => {
      const CLICKHOUSE_URL = `${server.url}/both_${round}`
      const both = await Promise.all([0, 1].map(() => startRunningService({ CLICKHOUSE_URL })))
      try {
        const project = (index: number) => both[index]!.in('default/both')
        await Promise.all(
          [0, 1].map(async (index) => {
            for (let call = 0; call < 100; call += 1)
              await project(index).calls.start({
                id: `of-${index}-${call}`,
                started_at: '2026-01-01T12:00:00Z',
              })
          }),
        )
        await sleep(6000)
        const read = await Promise.all(both.map(readOnce))
        const owners = read.filter(({ status }) => status === 200)
        assert.equal(owners.length, 1, read.map(({ text }) => text.slice(0, 200)).join('\n'))
        read.forEach(({ status, text }, index) => {
          if (status !== 200) assert.match(both[index]!.output(), /the ClickHouse database is in use/)
          else assert.equal(text.match(new RegExp(`"id":"of-${index}-`, 'g'))?.length, 100)
          assert.doesNotMatch(text, new RegExp(`"of-${1 - index}-`))
        })
      } finally {
        for (const service of both) await service.remove()
      }
    })
})
