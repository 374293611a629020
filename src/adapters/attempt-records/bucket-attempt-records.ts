import { digestOf } from '../../kernel/content-digest.js'
import type { AttemptRecord, AttemptRecords, EndedAttempt } from '../../kernel/ports/attempt-records.js'
import type { Bucket } from '../../kernel/ports/bucket.js'

/** A record is `attempts/<day of its end>/<delivery>/<attempt>`, so that the expired ones are listed first. */
const ATTEMPTS = 'attempts/'
const HOUR_MS = 3_600_000

const dayOf = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 10)
const keyOf = (day: string, deliveryId: string, attempt: number) =>
  `${ATTEMPTS}${day}/${encodeURIComponent(deliveryId)}/${attempt}`

/** Records as objects of a bucket, which all processes see. */
export const openBucketAttemptRecords = (bucket: Bucket): AttemptRecords => {
  /** Listing costs money, so it is done once an hour while nothing expires. */
  let prunedUpTo = -Infinity

  const recordOf = async (deliveryId: string, { attempt, endedAt }: EndedAttempt) => {
    // The log records an end a little later, which may be on the next day.
    for (const day of new Set([dayOf(endedAt), dayOf(endedAt - HOUR_MS)])) {
      const found = await bucket.get(keyOf(day, deliveryId, attempt))
      if (found !== undefined) return JSON.parse(Buffer.from(found).toString()) as AttemptRecord
    }
    return undefined
  }

  return {
    put: async (records) => {
      const putting = records.map(async (record) => {
        const content = Buffer.from(JSON.stringify(record))
        await bucket.put(
          keyOf(dayOf(record.endedAt), record.deliveryId, record.attempt),
          content,
          await digestOf(content),
        )
      })
      await Promise.all(putting)
    },
    of: async (deliveryId, attempts) => {
      const records = await Promise.all(attempts.map((attempt) => recordOf(deliveryId, attempt)))
      return records.filter((record) => record !== undefined)
    },
    prune: async (before, limit) => {
      if (before < prunedUpTo + HOUR_MS) return
      prunedUpTo = before
      const expired: string[] = []
      for await (const { key } of bucket.list(ATTEMPTS)) {
        if (expired.length === limit || key.slice(ATTEMPTS.length) >= dayOf(before)) break
        expired.push(key)
      }
      await Promise.all(expired.map((key) => bucket.delete(key)))
      if (expired.length === limit) prunedUpTo = -Infinity
    },
    close: () => undefined,
  }
}
