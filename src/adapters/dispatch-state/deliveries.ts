import type { Database } from 'better-sqlite3'
import type { Instant } from '../../kernel/codec/instant.js'
import type { OpenDelivery } from '../../domain/webhooks/deliveries/state.js'
import type { DispatcherState, OpenEntry } from '../../domain/webhooks/deliveries/dispatcher-state.js'

interface Row {
  readonly id: string
  readonly delivery: string
  readonly revision: bigint
  readonly ordinal: bigint
}

type Deliveries = Pick<
  DispatcherState,
  | 'putDelivery'
  | 'delivery'
  | 'removeDelivery'
  | 'deliveriesOf'
  | 'inFlight'
  | 'claimDue'
  | 'claimProbe'
  | 'unclaim'
  | 'nextDue'
  | 'waitingFor'
  | 'hasten'
  | 'restartWaits'
  | 'counts'
>

const COLUMNS = 'id, delivery, revision, ordinal'
const UNCLAIMED = "webhook = ? AND claimed = 0 AND turn IN ('fresh', 'retry')"

export const deliveriesIn = (db: Database): Deliveries => {
  const rows = (sql: string) => db.prepare<unknown[], Row>(sql).safeIntegers()
  const insert = db.prepare(
    `INSERT OR REPLACE INTO deliveries (id, webhook, turn, since, due_at, not_before, failures, ordinal, revision, delivery)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const one = rows(`SELECT ${COLUMNS} FROM deliveries WHERE id = ?`)
  const remove = db.prepare('DELETE FROM deliveries WHERE id = ?')
  const ofWebhook = rows(`SELECT ${COLUMNS} FROM deliveries WHERE webhook = ? LIMIT ?`)
  const flying = rows(`SELECT ${COLUMNS} FROM deliveries WHERE turn = 'flying'`)
  const due = rows(
    `SELECT ${COLUMNS} FROM deliveries WHERE webhook = ? AND claimed = 0 AND turn = ? AND due_at <= ?
     ORDER BY due_at, ordinal LIMIT 1`,
  )
  const newestFresh = rows(
    `SELECT ${COLUMNS} FROM deliveries WHERE webhook = ? AND claimed = 0 AND turn = 'fresh'
     ORDER BY due_at DESC, ordinal DESC LIMIT 1`,
  )
  const leastFailed = rows(
    `SELECT ${COLUMNS} FROM deliveries WHERE webhook = ? AND claimed = 0 AND turn = 'retry' AND due_at <= ?
     ORDER BY failures, ordinal DESC LIMIT 1`,
  )
  const claim = db.prepare('UPDATE deliveries SET claimed = ? WHERE id = ?')
  const next = db.prepare<[string], { due: number | null }>(
    `SELECT MIN(due_at) AS due FROM deliveries WHERE ${UNCLAIMED}`,
  )
  const waiting = db
    .prepare<[], string>("SELECT DISTINCT webhook FROM deliveries WHERE turn IN ('fresh', 'retry')")
    .pluck()
  const later = rows(
    `SELECT ${COLUMNS} FROM deliveries WHERE ${UNCLAIMED} AND due_at > ? AND ordinal > ? ORDER BY ordinal LIMIT ?`,
  )
  const hasten = db.prepare('UPDATE deliveries SET due_at = MAX(not_before, ?) WHERE id = ?')
  const makeDue = db.prepare('UPDATE deliveries SET due_at = ? WHERE id = ?')
  const restart = db.prepare(
    `UPDATE deliveries SET since = $now, due_at = $now + due_at - since,
       not_before = MIN(not_before, $now + due_at - since)
     WHERE turn = 'retry' AND since > $now AND due_at >= since`,
  )
  const count = db.prepare<[], { turn: string; deliveries: number; due: number }>(
    'SELECT turn, COUNT(*) AS deliveries, MIN(due_at) AS due FROM deliveries GROUP BY turn',
  )

  const claimed = (row: Row | undefined): OpenEntry | undefined => {
    if (row === undefined) return undefined
    claim.run(1, row.id)
    return entryOf(row)
  }

  return {
    putDelivery: ({ id, delivery, revision, order }) => {
      const { turn, since, dueAt, notBefore } = dueOf(delivery)
      const { webhook, failures } = delivery
      const text = JSON.stringify(delivery)
      insert.run(id, webhook, turn, since, dueAt, notBefore, failures, order, revision, text)
    },
    delivery: (id) => {
      const row = one.get(id)
      return row && entryOf(row)
    },
    removeDelivery: (id) => void remove.run(id),
    deliveriesOf: (webhook, limit) => ofWebhook.all(webhook, limit).map(entryOf),
    inFlight: () => flying.all().map(entryOf),
    claimDue: (webhook, turn, now) =>
      claimed(due.get(webhook, turn, turn === 'fresh' ? Number.MAX_SAFE_INTEGER : now)),
    claimProbe: (webhook, now) => claimed(newestFresh.get(webhook) ?? leastFailed.get(webhook, now)),
    unclaim: (id) => void claim.run(0, id),
    nextDue: (webhook) => next.get(webhook)?.due ?? undefined,
    waitingFor: () => waiting.all(),
    hasten: (webhook, now, { after, limit, ignoresNotBefore = false }) => {
      const hastened = later.all(webhook, now, after, limit)
      const update = ignoresNotBefore ? makeDue : hasten
      for (const { id } of hastened) update.run(now, id)
      return hastened.at(-1)?.ordinal
    },
    restartWaits: (now) => void restart.run({ now }),
    counts: () => {
      const turns = new Map(count.all().map((row) => [row.turn, row]))
      const waits = [turns.get('fresh')?.due, turns.get('retry')?.due].filter((due) => due !== undefined)
      return {
        pending: turns.get('fresh')?.deliveries ?? 0,
        retrying: turns.get('retry')?.deliveries ?? 0,
        in_flight: turns.get('flying')?.deliveries ?? 0,
        oldestDue: waits.length === 0 ? undefined : Math.min(...waits),
      }
    },
  }
}

const entryOf = ({ id, delivery, revision, ordinal }: Row): OpenEntry => ({
  id,
  delivery: JSON.parse(delivery) as OpenDelivery,
  revision,
  order: ordinal,
})

const dueOf = (delivery: OpenDelivery) =>
  delivery.phase === 'in_flight'
    ? { turn: 'flying', since: 0, dueAt: millis(delivery.deadlineAt), notBefore: 0 }
    : {
        turn: delivery.phase === 'pending' ? 'fresh' : 'retry',
        since: millis(delivery.since),
        dueAt: millis(delivery.dueAt),
        notBefore: delivery.notBefore === null ? 0 : millis(delivery.notBefore),
      }

/** @throws RangeError for what is no time */
const millis = (instant: Instant): number => {
  const time = Date.parse(instant)
  if (Number.isNaN(time)) throw new RangeError('a delivery has an invalid time')
  return time
}
