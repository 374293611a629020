import type { Tile } from '../tlog/merkle.js'
import type { Position } from './event-store.js'
import { OperatorError } from './operator-error.js'

export interface SignedCheckpoint {
  readonly size: number
  readonly signedAt: Date
  /** The signed note. */
  readonly note: string
}

/** A step of the tree: the tiles that changed, and the position of the last event of each tile of level 0. */
export interface TreeStep {
  readonly tiles: readonly Tile[]
  readonly positions: ReadonlyMap<number, Position>
  readonly checkpoint: SignedCheckpoint | undefined
}

/** Another process has the tree open. */
export class LogTreeInUse extends OperatorError {}

/** Another process has changed the tree since this one read it. Nothing was saved, and the change is read. */
export class LogTreeChanged extends Error {
  override readonly name = 'LogTreeChanged'
}

/** A store in this process answers at once. */
export type Awaitable<A> = A | Promise<A>

/** The Merkle tree of the log and its signed checkpoints. */
export interface LogTree {
  /** For messages. */
  readonly named: string
  /** Number of leaves. */
  readonly size: () => number
  /** Of the event of the last leaf, 0 for none. */
  readonly position: () => Position
  /** The hashes of a tile. @throws if there is none */
  readonly tile: (level: number, index: number) => Awaitable<Uint8Array>
  /** The tile of level 0 with the event at a position, if that has a leaf. */
  readonly tileAt: (position: Position) => Awaitable<number | undefined>
  /** The position of the last event before a tile of level 0. */
  readonly positionBefore: (index: number) => Awaitable<Position>
  readonly latest: () => SignedCheckpoint | undefined
  /**
   * By size: the last one of each minute, after a day of each hour, and after 30 days of each day, for each number of
   * signatures.
   */
  readonly checkpoints: () => Awaitable<readonly SignedCheckpoint[]>
  /** The last checkpoint of the log that this one replaced. */
  readonly previous: () => string | undefined
  /** Reads what other processes have saved; whether there was something. Absent where one process alone has the tree. */
  readonly refresh?: () => Promise<boolean>
  /** All or nothing, durable when it resolves. @throws LogTreeChanged */
  readonly save: (step: TreeStep) => Promise<void>
  /** Adds a signature line to a checkpoint, also to one that is no longer kept. Durable when it resolves. */
  readonly cosign: (checkpoint: SignedCheckpoint, line: string) => Promise<void>
  readonly close: () => void
}
