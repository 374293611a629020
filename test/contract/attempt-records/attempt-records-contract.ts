import assert from 'node:assert/strict'
import type { AttemptRecord, AttemptRecords } from '../../../src/kernel/ports/attempt-records.js'

export const NOW = Date.parse('2027-01-15T12:00:00Z')
const DAY_MS = 24 * 3_600_000

export const recordOf = (deliveryId: string, attempt: number, endedAt = NOW): AttemptRecord => ({
  deliveryId,
  attempt,
  endedAt,
  body: `{"attempt":${attempt}}`,
  status: 200,
  responseHeaders: { 'content-type': 'text/plain' },
  responseBody: 'ok',
})

/** What every adapter of the records of attempts keeps; `open` is called for each test. */
export const attemptRecordsContract = (
  open: () => Promise<{ readonly records: AttemptRecords; readonly dispose: () => Promise<void> }>,
): void => {
  const given = (check: (records: AttemptRecords) => Promise<void>) => async () => {
    const { records, dispose } = await open()
    await check(records)
    await dispose()
  }
  const numbersOf = async (
    records: AttemptRecords,
    deliveryId: string,
    ...attempts: readonly AttemptRecord[]
  ) => (await records.of(deliveryId, attempts)).map(({ attempt }) => attempt)

  it(
    'are given back by delivery and attempt, in order',
    given(async (records) => {
      const [one, two, three] = [1, 2, 3].map((attempt) => recordOf('dlv_a', attempt))
      await records.put([two!, one!, recordOf('dlv_b', 3)])
      await records.put([three!])

      assert.deepEqual(await records.of('dlv_a', [one!, two!]), [one, two])
      assert.deepEqual(await numbersOf(records, 'dlv_a', one!, two!, three!), [1, 2, 3])
      assert.deepEqual(await numbersOf(records, 'dlv_c', one!), [])
      assert.deepEqual(await numbersOf(records, 'dlv_a'), [])
    }),
  )

  it(
    'keep the last of two records of an attempt',
    given(async (records) => {
      const later = { ...recordOf('dlv_a', 1), status: 500 }
      await records.put([recordOf('dlv_a', 1)])
      await records.put([later])

      assert.deepEqual(await records.of('dlv_a', [later]), [later])
    }),
  )

  it(
    'are deleted by their end, some at a time',
    given(async (records) => {
      const all = [-3, -2, -1, 0].map((days, at) => recordOf('dlv_a', at + 1, NOW + days * DAY_MS))
      await records.put(all)

      await records.prune(NOW - DAY_MS, 1)
      assert.deepEqual(await numbersOf(records, 'dlv_a', ...all), [2, 3, 4])
      await records.prune(NOW - DAY_MS, 9)
      assert.deepEqual(await numbersOf(records, 'dlv_a', ...all), [3, 4])
    }),
  )
}
