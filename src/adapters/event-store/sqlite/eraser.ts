import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { erasedSeal, isErased, SALT_BYTES, SEAL_BYTES } from '../../../kernel/event-seal.js'
import { jsonText } from '../../../kernel/json/text.js'
import type { Erased, Erasure } from '../../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../../kernel/ports/event-store-errors.js'
import type { EventTexts } from '../seal.js'
import type { ReadTexts } from './event-texts.js'
import { pack } from './pack.js'
import { rowDamage, rowSeal, SEAL_TEXT, type RowPlace } from './row-seal.js'
import { scrubber, type Resting } from './scrubber.js'

interface ErasedStore {
  readonly db: Database
  /** A descriptor of its file. */
  readonly file: number
  readonly texts: ReadTexts
  /** Events after this position may yet be lost. */
  readonly durable: () => number
  /** @throws StoreUnavailable if the file must not be written */
  readonly requireWritable: () => void
  /** Called after events of streams were erased in the file. */
  readonly forget: (streams: ReadonlySet<string>) => void
}

export interface Eraser {
  readonly erase: (erasures: AsyncIterable<Erasure>) => Promise<Erased>
  /** Resolves after the step that is under way; none follows once the file must not be written. */
  readonly stopped: () => Promise<unknown>
}

/** As many are sorted by position, so that each pack is rewritten once. */
const GATHERED = { events: 8192, characters: 8 * 1024 * 1024 }
/** Rows of one transaction. */
const STEP = { events: 128, bytes: 262_144 }
/** A pause takes this many times as long as the work before it. */
const REST = 4

/** What is left of the data of events, by position. */
type Left = Map<number, string>

interface Row extends RowPlace {
  readonly data: string
  readonly metadata: string
  readonly seal: string
}

/** An event to erase, with its former texts. */
interface Change {
  readonly position: number
  readonly former: EventTexts
  readonly left: string
}

type Pack = readonly [first: number, last: number]

/**
 * Erases the data of events in short transactions, rows in place and packs as a whole. Each transaction is complete in
 * itself, so an interrupted erasure can be repeated.
 */
export const openEraser = ({ db, file, texts, durable, requireWritable, forget }: ErasedStore): Eraser => {
  const select = db.prepare<[number], Row>(
    `SELECT position, name AS stream, revision, id, type, recorded_at AS recordedAt, data, metadata, ${SEAL_TEXT} AS seal
     FROM events CROSS JOIN streams USING (sid) WHERE position = ?`,
  )
  const packAt = db
    .prepare<[number], Pack>('SELECT first, last FROM packs WHERE last >= ? ORDER BY last LIMIT 1')
    .raw()
  const packedIn = db
    .prepare<[number, number], number>(
      "SELECT position FROM events WHERE position BETWEEN ? AND ? AND data = '' ORDER BY position",
    )
    .pluck()
  const update = db.prepare<[string, Buffer, number]>(
    'UPDATE events SET data = ?, seal = ? WHERE position = ?',
  )
  const updatePack = db.prepare<[Buffer, number]>('UPDATE packs SET texts = ? WHERE last = ?')

  /** The rows are read again, because an event may have got its seal meanwhile. */
  const write = db.transaction((changes: readonly Change[], newPack?: readonly [last: number, Buffer]) => {
    const streams = new Set<string>()
    for (const { position, former, left } of changes) {
      const row = select.get(position)!
      update.run(row.data === '' ? '' : left, erasedRowSeal(row, former, left), position)
      streams.add(row.stream)
    }
    if (newPack !== undefined) updatePack.run(newPack[1], newPack[0])
    return streams
  })

  const repacked = (positions: readonly number[], left: ReadonlyMap<number, string>): Promise<Buffer> =>
    pack(
      positions.map((position) => {
        const { data, metadata } = texts(position, '', '')!
        const rest = left.get(position) ?? data
        return { position, data: Buffer.from(rest), metadata: Buffer.from(metadata) }
      }),
    )

  /** An error if the log has no such event, or it cannot be read. */
  const eventAt = (position: number): { readonly row: Row; readonly former: EventTexts } | Error => {
    const row = position <= durable() ? select.get(position) : undefined
    if (row === undefined) return new Error(`the log has no event at position ${position}`)
    const former = texts(position, row.data, row.metadata)
    if (former === undefined) return new StoreUnavailable(`the pack of position ${position} is damaged`)
    return { row, former }
  }

  /** Takes the first of `left`, and others of its pack or more rows. */
  const take = (left: Left): { readonly changes: readonly Change[]; readonly found: Pack | undefined } => {
    const [start] = left.keys()
    const first = eventAt(start!)
    if (first instanceof Error) throw first
    const isPacked = first.row.data === ''
    const found = isPacked ? packAt.get(start!) : undefined
    const changes: Change[] = []
    let bytes = 0
    let looked = 0
    for (const [position, rest] of left) {
      if (isPacked ? position > (found?.[1] ?? start!) : looked === STEP.events || bytes > STEP.bytes) break
      looked += 1
      const event = eventAt(position)
      // The next step begins with it, and fails.
      if (event instanceof Error) break
      const { row, former } = event
      if ((row.data === '') !== isPacked) continue
      left.delete(position)
      bytes += former.data.length
      if (former.data !== rest || !isErased(Buffer.from(row.seal, 'hex')))
        changes.push({ position, former, left: rest })
    }
    return { changes, found }
  }

  const eraseSome = async (left: Left): Promise<Erased> => {
    const { changes, found } = take(left)
    if (changes.length === 0) return NOTHING
    const rests = new Map(changes.map((change) => [change.position, change.left]))
    const packed = found && ([found[1], await repacked(packedIn.all(...found), rests)] as const)
    requireWritable()
    forget(write.immediate(changes, packed))
    const bytes = changes.map(({ former, left: rest }) => byteLength(former.data) - byteLength(rest))
    return { events: changes.length, bytes: bytes.reduce((sum, one) => sum + one, 0) }
  }

  const scrub = scrubber(db, file)
  let step: Promise<unknown> = Promise.resolve()
  const resting: Resting = async (work) => {
    requireWritable()
    const start = performance.now()
    const working = Promise.resolve(work())
    step = working.catch(() => undefined)
    const done = await working
    await sleep((performance.now() - start) * REST)
    requireWritable()
    return done
  }

  const eraseAll = async (erasures: AsyncIterable<Erasure>): Promise<Erased> => {
    let erased = NOTHING
    let failure: Error | undefined
    for await (const left of gathered(erasures))
      while (left.size > 0) {
        const [start] = left.keys()
        try {
          const { events, bytes } = await resting(() => eraseSome(left))
          erased = { events: erased.events + events, bytes: erased.bytes + bytes }
        } catch (error) {
          requireWritable()
          failure ??= error as Error
          left.delete(start!)
        }
      }
    await scrub(resting)
    if (failure !== undefined) throw failure
    return erased
  }

  let last: Promise<unknown> = Promise.resolve()
  return {
    erase: (erasures) => {
      const erased = last.then(() => eraseAll(erasures))
      last = erased.catch(() => undefined)
      return erased
    },
    stopped: () => step,
  }
}

const NOTHING: Erased = { events: 0, bytes: 0 }

const byteLength = (text: string): number => Buffer.byteLength(text)

/** Sorted by position. */
async function* gathered(erasures: AsyncIterable<Erasure>): AsyncGenerator<Left> {
  let all: [number, string][] = []
  let characters = 0
  for await (const { position, data } of erasures) {
    const text = jsonText(data)
    all.push([Number(position), text])
    characters += text.length
    if (all.length < GATHERED.events && characters < GATHERED.characters) continue
    yield new Map(all.sort(([one], [other]) => one - other))
    all = []
    characters = 0
  }
  yield new Map(all.sort(([one], [other]) => one - other))
}

/** The digest stays. A row that was damaged stays unreadable, because it keeps its CRC-32. */
const erasedRowSeal = (row: Row, former: EventTexts, left: string): Buffer => {
  const before = row.seal === '' ? rowSeal(row, former) : Buffer.from(row.seal, 'hex')
  const erased = erasedSeal(before.subarray(SALT_BYTES, SEAL_BYTES))
  return rowDamage(row.seal, row, former) === undefined
    ? rowSeal(row, { data: left, metadata: former.metadata }, erased)
    : Buffer.concat([erased, before.subarray(SEAL_BYTES)])
}
