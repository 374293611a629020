import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { ClickHouse } from '../../../src/kernel/ports/clickhouse.js'
import type { Position } from '../../../src/kernel/ports/event-store.js'
import { migrate } from '../../../src/projections/migrate.js'
import { COUNTS } from '../../counts.js'
import { openTestClickHouse } from '../../support/engine.js'
import { ADMINISTRATOR_KEY, startTestService, type TestService } from '../../support/service.js'
import { arbitraryDeed, questionsAbout, type Deed, type Question } from './deeds.js'
import { replayed, type Replica } from './replica.js'

const someProject = (): string => `default/p-${randomUUID().slice(0, 8)}`

/** How many positions are asked about, some of each history. */
const CASES = COUNTS.asOfPositions
const A_HISTORY = 12
/** So many positions, one after the other, share all the questions among them. */
const SHARES = 4

describe('a read as of a position', () => {
  let service: TestService
  let scratch: ClickHouse

  before(async () => {
    service = await startTestService()
    scratch = await openTestClickHouse()
    await migrate(scratch.writer)
  })

  after(async () => {
    await service.stop()
    await scratch.close()
  })

  const head = () => service.stores.eventStore.head()

  /** Does what can be done, and says which tables were made. */
  const live = async (deeds: readonly Deed[]): Promise<readonly string[]> => {
    const tables = new Set<string>()
    for (const { method = 'POST', path, body } of deeds) {
      let answer = await service.send(method, path, body)
      while (answer.status === 503) answer = await service.send(method, path, body)
      assert.ok(answer.status < 500, answer.text)
      if (path === '/table/create') tables.add(answer.json<{ digest: string }>().digest)
    }
    return [...tables]
  }

  /** A read that waited in vain, on a machine with much to do, is asked again. */
  const asked = async (...question: Parameters<typeof askedOnce>) => {
    let answer = await askedOnce(...question)
    while (answer.told.status === 503) answer = await askedOnce(...question)
    return answer
  }

  const asOf = (position: Position | string) => ({ 'tallytree-as-of': String(position) })
  const since = (position: Position) => ({ 'tallytree-min-position': String(position) })

  const askedOnce = async (address: string, { path, body }: Question, more: Record<string, string> = {}) => {
    const response = await fetch(`${address}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${ADMINISTRATOR_KEY}`, 'content-type': 'application/json', ...more },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const headers = ['tallytree-truncated', 'tallytree-unfinished-descendants', 'content-type']
    return {
      position: response.headers.get('tallytree-position'),
      told: {
        status: response.status,
        headers: headers.map((name) => response.headers.get(name)),
        text: await response.text(),
      },
    }
  }

  const isThatOf = async (fresh: Replica, question: Question, at: Position) => {
    const past = await asked(service.address, question, asOf(at))
    assert.ok(past.told.status !== 422, past.told.text)
    const then = await asked(fresh.address, question, since(at))
    const what = `${question.path} ${JSON.stringify(question.body)} at ${at}`
    assert.deepEqual(past.told, then.told, what)
    if (past.told.status === 200)
      assert.deepEqual([past.position, then.position], [String(at), String(at)], what)
  }

  it(`is that of a service that knows the log up to there and no further, at ${CASES} positions`, async function () {
    this.timeout(0)
    const positions = Math.min(CASES, A_HISTORY)
    const history = fc.record({
      deeds: fc.array(arbitraryDeed('default/PROJECT'), { minLength: 10, maxLength: 60 }),
      shares: fc.array(fc.nat(110), { minLength: positions, maxLength: positions }),
    })
    let cases = 0
    const law = fc.asyncProperty(history, async ({ deeds: planned, shares }) => {
      const project = someProject()
      const deeds = JSON.parse(JSON.stringify(planned).replaceAll('default/PROJECT', project)) as Deed[]
      const from = await head()
      const tables = await live(deeds)
      const to = await head()
      const ascending = shares
        .toSorted((a, b) => a - b)
        .map((share): Position => from + ((to - from) * BigInt(Math.min(share, 100))) / 100n)
      const questions = questionsAbout(project, tables)
      const fresh = await replayed(service, scratch, from, ascending[0]!)
      try {
        for (const at of ascending) {
          fresh.goOnTo(at)
          cases += 1
          const share = questions.filter((_, index) => index % SHARES === cases % SHARES)
          await Promise.all(share.map((question) => isThatOf(fresh, question, at)))
          await foldsAsProjected(project, at)
        }
      } finally {
        await fresh.stop()
      }
    })
    await fc.assert(law, { numRuns: Math.ceil(CASES / positions) })
  })

  /** A call is folded from its stream when it is read alone, and projected when it is read with others. */
  const foldsAsProjected = async (project_id: string, at: Position) => {
    const lines = await asked(
      service.address,
      { path: '/calls/stream_query', body: { project_id } },
      asOf(at),
    )
    const projected = lines.told.text.split('\n').filter((line) => line !== '')
    const folded = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map(async (id) => {
        const body = { project_id, id }
        return (await asked(service.address, { path: '/call/read', body }, asOf(at))).told.text
      }),
    )
    const texts = folded.filter((text) => text !== '{"call":null}').map((text) => text.slice(8, -1))
    assert.deepEqual(texts.toSorted(), projected.toSorted())
  }

  it('of a time is that of the last event recorded no later', async () => {
    const project_id = someProject()
    const from = await head()
    await live(fc.sample(arbitraryDeed(project_id), 40))
    const question = { path: '/calls/query', body: { project_id } }
    const recorded: { readonly position: Position; readonly recordedAt: Date }[] = []
    for await (const event of service.stores.eventStore.readAll({ after: from })) recorded.push(event)
    for (const { recordedAt } of recorded) {
      const last = recorded.findLast((event) => event.recordedAt <= recordedAt)!.position
      const past = await asked(service.address, question, asOf(recordedAt.toISOString()))
      assert.equal(past.position, String(last))
      assert.deepEqual(past.told, (await asked(service.address, question, asOf(last))).told)
    }
  })
})
