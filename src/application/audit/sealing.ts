import { setImmediate } from 'node:timers/promises'
import { followLog } from '../../kernel/follow-log.js'
import type { Clock } from '../../kernel/ports/clock.js'
import type { EventPlace, EventStore, Position, RecordedEvent } from '../../kernel/ports/event-store.js'
import { StoreUnavailable } from '../../kernel/ports/event-store-errors.js'
import type { HealthReports } from '../../kernel/ports/health.js'
import type { Log } from '../../kernel/ports/log.js'
import type { LogKeys } from '../../kernel/ports/log-keys.js'
import { LogTreeChanged, type LogTree, type SignedCheckpoint } from '../../kernel/ports/log-tree.js'
import { OperatorError } from '../../kernel/ports/operator-error.js'
import { entryHash } from '../../kernel/tlog/entries.js'
import { growingTree, HASH_BYTES, TILE_HASHES, withTiles } from '../../kernel/tlog/merkle.js'
import { checkpointText, signNote } from '../../kernel/tlog/note.js'
import { within } from '../../kernel/within.js'
import { askWitnesses, type WitnessingPorts } from './witnessing.js'
import { hasDigest, sealedLog, type SealedLog } from './sealed-log.js'
import { placesIn, sealsIn, type EventSeal, type ReadPlaces } from './seals.js'

interface SealingPorts {
  readonly eventStore: Pick<EventStore, 'subscribeAll' | 'readAll' | 'readPlaces' | 'head'>
  readonly tree: LogTree
  readonly keys: LogKeys
  readonly clock: Clock
  readonly log: Pick<Log, 'info'>
  readonly health: HealthReports
  readonly witnessing?: Pick<WitnessingPorts, 'witnesses' | 'client'>
}

/** The Merkle tree of the log in this process, which signs its checkpoints. */
export interface Sealing extends SealedLog {
  /** The salt and the digest of an event that was read with its seal. */
  readonly sealOf: (event: RecordedEvent) => EventSeal | undefined
  /** As they are published. Former ones are included. */
  readonly verifierKeys: () => readonly string[]
  /** Seals what the log has, and closes the tree. */
  readonly stop: () => Promise<void>
}

/** A checkpoint follows an event after this time. */
const EVERY_MS = 2000
/** The log of a first start is empty for a moment. */
const FIRST_WITHIN_MS = 100
/** The log may be away. */
const STOP_WITHIN_MS = 3000
const PLACES_AT_ONCE = 1024
/** Steps are synced to the disk. */
const LEAVES_IN_STEP = 16 * PLACES_AT_ONCE
const TELL_EVERY_MS = 5000
/** Of several processes with one tree, the others leave it to the one that saved last for this time. */
const LEFT_TO_OTHERS_MS = 5000

/**
 * Continues the tree. Signs a checkpoint only after the last one is durable and part of the tree, so that no two
 * checkpoints contradict each other.
 *
 * @throws OperatorError if the log is not the one that was signed, or lacks its end
 */
export const startSealing = async (ports: SealingPorts): Promise<Sealing> => {
  const { eventStore, tree, keys, health, witnessing } = ports
  const readPlaces = placesIn(eventStore, keys.salt)
  let isSealedLog = false
  const requireSealed = async () => {
    if (!isSealedLog) await requireSealedLog(tree, readPlaces, await eventStore.head())
    isSealedLog = true
  }
  // The service starts without a log that is away or damaged, but signs nothing.
  await requireSealed().catch((error: unknown) => {
    if (!(error instanceof StoreUnavailable)) throw error
    health.report('log-tree', error)
  })
  let published = tree.latest()
  const growth = growing(ports, readPlaces)
  const addCosignature = async (checkpoint: SignedCheckpoint, line: string) => {
    await tree.cosign(checkpoint, line)
    if (published?.size !== checkpoint.size || published.note.includes(line)) return
    published = { ...published, note: published.note + line }
  }
  const witnesses =
    witnessing && askWitnesses({ ...witnessing, tile: tree.tile, health, onCosigned: addCosignature })

  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  const sealIn = (ms: number) => {
    if (!isStopped) timer ??= setTimeout(continually, ms).unref()
  }
  let leftToOthersUntil = -Infinity
  let savedLast = false
  /** Reads what other processes saved. */
  const continueAfterOthers = () => {
    savedLast = false
    isSealedLog = false
    leftToOthersUntil = performance.now() + LEFT_TO_OTHERS_MS
    growth.restart()
    published = tree.latest()
    if (tree.position() < heard) sealIn(EVERY_MS)
  }
  const sealNow = async () => {
    if (!savedLast && (await tree.refresh?.()) === true) continueAfterOthers()
    published = tree.latest() ?? published
    if (performance.now() < leftToOthersUntil) {
      if (tree.position() < heard) sealIn(EVERY_MS)
      return
    }
    await requireSealed()
    const { checkpoint, isWhole } = await growth.grow()
    savedLast ||= checkpoint !== undefined
    published = checkpoint ?? published
    if (published !== undefined) witnesses?.ask(published)
    if (!isWhole) sealIn(EVERY_MS)
  }
  /** Also continues where events have no seal yet, or it failed. */
  const seal = async () => {
    try {
      await sealNow()
      health.report('log-tree', null)
    } catch (error) {
      if (error instanceof LogTreeChanged) {
        continueAfterOthers()
        return
      }
      savedLast = false
      health.report('log-tree', error)
      sealIn(EVERY_MS)
    }
  }
  const start = await eventStore.head().catch(() => tree.position())
  /** The last event that the log is known to have. */
  let heard = start
  let sealing = Promise.resolve()
  const continually = () => {
    timer = undefined
    sealing = sealing.then(seal)
  }
  const stopping = new AbortController()
  const { stopped } = followLog({
    eventStore,
    after: start,
    withUnreadable: true,
    onEvent: ({ position }) => {
      heard = position
      sealIn(published === undefined ? FIRST_WITHIN_MS : EVERY_MS)
    },
    onError: () => sealIn(EVERY_MS),
    signal: stopping.signal,
  })
  continually()

  return {
    ...sealedLog(tree, readPlaces, () => published),
    sealOf: sealsIn(eventStore, keys.salt),
    verifierKeys: () => keys.all.map(({ text }) => text),
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      stopping.abort()
      await within(STOP_WITHIN_MS, Promise.all([stopped, sealing]).then(seal))
      await witnesses?.stop()
      tree.close()
    },
  }
}

interface Step {
  readonly checkpoint: SignedCheckpoint | undefined
  /** Whether the tree has all events up to the head. */
  readonly isWhole: boolean
}

interface Growth {
  /** Adds the events up to the head, and signs a checkpoint if there are any. */
  readonly grow: () => Promise<Step>
  /** Continues the stored tree next, which another process has changed. */
  readonly restart: () => void
}

const growing = ({ eventStore, tree, keys, clock, log }: SealingPorts, readPlaces: ReadPlaces): Growth => {
  let grown = growingTree(0, () => new Uint8Array())
  let isContinued = false
  let [position, toldAt] = [tree.position(), performance.now()]
  let positions = new Map<number, Position>()

  const continueTree = async () => {
    const size = tree.size()
    grown = await withTiles(tree.tile, (read) => growingTree(size, read))
    position = tree.position()
    positions = new Map()
    isContinued = true
  }

  const sign = (): SignedCheckpoint => {
    const signedAt = clock.now()
    const text = checkpointText({ origin: keys.origin, size: grown.size(), root: grown.root() })
    const note = signNote(text, keys.active(signedAt), Math.floor(signedAt.getTime() / 1000))
    return { size: grown.size(), signedAt, note }
  }

  const save = async (checkpoint: SignedCheckpoint | undefined) => {
    await tree.save({ tiles: grown.changed(), positions, checkpoint })
    positions = new Map()
    return checkpoint
  }

  const tell = (event: string) => {
    toldAt = performance.now()
    log.info(event, { leaves: grown.size(), position: String(position) })
  }

  /** Returns false at an event that has no seal yet. */
  const addSome = (places: readonly EventPlace[]): boolean => {
    for (const place of places) {
      if (!hasDigest(place)) return false
      positions.set(Math.floor(grown.size() / TILE_HASHES), place.position)
      grown.add(entryHash(place))
      position = place.position
    }
    return true
  }

  const addAll = async (head: Position): Promise<boolean> => {
    const start = grown.size()
    let saved = start
    for (;;) {
      const places = position < head ? await readPlaces(position, PLACES_AT_ONCE) : []
      if (places.length === 0) return true
      if (!addSome(places)) return false
      if (grown.size() - saved >= LEAVES_IN_STEP) {
        await save(undefined)
        saved = grown.size()
      }
      if (performance.now() - toldAt > TELL_EVERY_MS && grown.size() - start > PLACES_AT_ONCE)
        tell('log.tree_growing')
      await setImmediate()
    }
  }

  const grow = async () => {
    try {
      const head = await eventStore.head()
      if (!isContinued) await continueTree()
      toldAt = performance.now()
      const startedAt = toldAt
      const isWhole = await addAll(head)
      if (toldAt > startedAt) tell('log.tree_grown')
      const isNew = grown.size() > (tree.latest()?.size ?? 0)
      return { checkpoint: isNew ? await save(sign()) : undefined, isWhole }
    } catch (error) {
      // What was added may not be saved.
      isContinued = false
      throw error
    }
  }
  return { grow, restart: () => void (isContinued = false) }
}

/** Compares the end of the tree with the log. `tallytree verify` compares the whole. */
const requireSealedLog = async (tree: LogTree, readPlaces: ReadPlaces, head: Position): Promise<void> => {
  const size = tree.size()
  if (size === 0) return
  const tile = Math.floor((size - 1) / TILE_HASHES)
  const at = (size - 1) % TILE_HASHES
  const place = (await readPlaces(await tree.positionBefore(tile), at + 1))[at]
  if (place === undefined) {
    const last = (await tree.tileAt(head)) ?? 0
    const events =
      last * TILE_HASHES + (await readPlaces(await tree.positionBefore(last), TILE_HASHES)).length
    throw notSealed(tree, `the event log has ${events} events, but ${tree.named} has ${size} leaves`)
  }
  const leaf = (await tree.tile(0, tile)).subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)
  if (!hasDigest(place) || !entryHash(place).equals(leaf))
    throw notSealed(
      tree,
      `event ${size - 1} of the event log is not the one that was sealed in ${tree.named}`,
    )
}

const notSealed = (tree: LogTree, reason: string): OperatorError => {
  const signed = tree.latest()
  const until =
    signed && ` and a signed checkpoint of ${signed.size} events from ${signed.signedAt.toISOString()}`
  return new OperatorError(
    `${reason}${until ?? ''}: the log was restored from another or an older backup, and would contradict what was signed. ` +
      'Restore the log that was sealed, or run "tallytree log new-origin" to begin a new log that names the last checkpoint; ' +
      'see docs/auditing.md#a-log-that-does-not-match-its-checkpoints',
  )
}
