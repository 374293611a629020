import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { CancelledError, EventStoreDBClient, jsonEvent, UnavailableError } from '@eventstore/db-client'
import { openEventStoreDb } from '../../../../../src/adapters/event-store/eventstoredb/event-store-db.js'
import { StoreUnavailable } from '../../../../../src/kernel/ports/event-store-errors.js'
import {
  arbitraryEvent,
  arbitraryEvents,
  arbitraryStream,
  givenStreamOf,
} from '../../../../contract/event-store/arbitrary-events.js'
import { idsIn, idsOf } from '../../../../contract/event-store/collect.js'
import { bundled } from '../../../../support/compiled.js'
import { startProtocolDouble } from '../../../../support/eventstoredb-protocol-double/double.js'
import { givenDouble } from '../../../../support/eventstoredb-protocol-double/given-double.js'
import { until } from '../../../../support/until.js'

const rawEvent = () => jsonEvent({ type: 'Happened', data: { a: 1 } })

/** How a promise ended, or that it did not within the time given. */
const outcomeOf = (promise: Promise<unknown>, ms: number): Promise<unknown> =>
  Promise.race([
    promise.then(
      () => 'fulfilled',
      (error: unknown) => error,
    ),
    sleep(ms, 'pending'),
  ])

// Each test shows a defect of the client first, so that it can be seen when it is gone.
describe('the defects of the client of EventStoreDB are contained', () => {
  const given = givenDouble()
  let raw: EventStoreDBClient
  beforeEach(() => (raw = EventStoreDBClient.connectionString(given.double.url)))
  afterEach(() => raw.dispose())

  it('1: a batched append that is not answered waits for ever, whatever its deadline', async () => {
    const { double, store } = given
    const impatient = await given.storeWith(1900)
    double.misbehaviour.ignoreAppends = 2

    const unanswered = raw.appendToStream(arbitraryStream(), rawEvent(), { deadline: 100 })
    assert.equal(await outcomeOf(unanswered, 1000), 'pending')

    const stream = arbitraryStream()
    const events = arbitraryEvents(2)
    await assert.rejects(impatient.append(stream, 'none', events), { name: 'AppendOutcomeUnknown' })
    await store.append(stream, 'none', events)
    assert.deepEqual(await idsIn(store.readStream(stream)), idsOf(events))
  })

  it('2: data that JSON cannot hold ends the process', async () => {
    const program = await bundled('test/unit/adapters/event-store/eventstoredb/defective-append.ts')
    const run = (who: string) => promisify(execFile)(process.execPath, [program, who, given.double.url])

    await assert.rejects(run('client'), ({ code, stderr }: { code: number; stderr: string }) => {
      assert.equal(code, 1)
      assert.match(stderr, /BigInt/)
      return true
    })
    assert.equal((await run('adapter')).stdout, 'InvalidAppend\n')
  })

  it('3: when the connection of one client breaks, the appends of every other are said to have failed', async () => {
    const { double, store } = given
    const other = await startProtocolDouble()
    const breaking = EventStoreDBClient.connectionString(other.url)
    await breaking.appendToStream(arbitraryStream(), rawEvent())

    double.misbehaviour.ignoreAppends = 1
    const unrelated = raw.appendToStream(arbitraryStream(), rawEvent())
    const stream = arbitraryStream()
    const events = arbitraryEvents(2)
    await until(() => double.misbehaviour.ignoreAppends === 0)
    double.misbehaviour.swallowAnswers = 1
    const appended = store.append(stream, 'none', events)
    await until(() => double.log.read(stream) !== undefined)
    await other.stop()

    const failure = await outcomeOf(unrelated, 1000)
    assert.ok(failure instanceof UnavailableError || failure instanceof CancelledError, String(failure))
    assert.equal((await appended).revision, 1n)
    assert.deepEqual(await idsIn(store.readStream(stream)), idsOf(events))
    await assert.rejects(openEventStoreDb('esdb://127.0.0.1:1?tls=false'), /already uses another/)
    await breaking.dispose()
  })

  it('4: a client that is told not to throw says that every conflict is at revision 1', async () => {
    const { double, store } = given
    const quiet = EventStoreDBClient.connectionString(`${double.url}&throwOnAppendFailure=false`)
    const { stream } = await givenStreamOf(store, 5)

    const result = await quiet.appendToStream(stream, rawEvent(), { expectedRevision: 0n })
    assert.deepEqual([result.success, result.nextExpectedRevision], [false, 1n])

    await assert.rejects(store.append(stream, 0n, [arbitraryEvent()]), { actual: 4n })
    await quiet.dispose()
  })

  it('5: an append to a server that is away fails with an error that is none of the client', async () => {
    const away = 'esdb://127.0.0.1:1?tls=false'
    const unreached = EventStoreDBClient.connectionString(away)

    await assert.rejects(unreached.appendToStream(arbitraryStream(), rawEvent()), (error) => {
      assert.ok(!(error instanceof UnavailableError))
      assert.equal((error as { code?: number }).code, 14)
      return true
    })

    const store = await given.storeWith(10_000)
    await given.double.stop()
    await assert.rejects(store.append(arbitraryStream(), 'none', [arbitraryEvent()]), StoreUnavailable)
  })

  it('6: a question for features that failed once is never asked again', async () => {
    const { double, store } = given
    double.misbehaviour.refuseFeatures = 2

    await assert.rejects(raw.appendToStream(arbitraryStream(), rawEvent()))
    await assert.rejects(raw.appendToStream(arbitraryStream(), rawEvent()))
    assert.equal(double.misbehaviour.refuseFeatures, 1)

    await store.append(arbitraryStream(), 'none', [arbitraryEvent()])
    assert.equal(double.misbehaviour.refuseFeatures, 0)
  })
})
