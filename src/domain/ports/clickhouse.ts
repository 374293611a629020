import { OperatorError } from './operator-error.js'

/** Values for `{name:Type}` placeholders: a client's value reaches ClickHouse in no other way. */
export type SqlParameters = Readonly<Record<string, SqlParameter>>
export type SqlParameter = string | number | bigint | boolean | null | readonly (string | number | bigint)[]

/** Rows to insert, in the order of `columns`; values as JSON. */
export interface Rows {
  readonly table: string
  readonly columns: readonly string[]
  readonly values: readonly (readonly unknown[])[]
}

/** What the projector needs: one connection of its own, so that no reader makes it wait. */
export interface ClickHouseWriter {
  /** Runs a statement that makes, changes or drops tables; on every server, where there are several. */
  command(sql: string): Promise<void>
  insert(rows: Rows): Promise<void>
  query<Row>(sql: string, parameters?: SqlParameters): Promise<readonly Row[]>
}

export interface ReadOptions {
  /** Cancels the read, which then throws ReadAbandoned. The embedded engine finishes a statement that it has begun. */
  readonly signal?: AbortSignal | undefined
  /** On whose behalf it is: the embedded engine keeps a reader free for other teams. */
  readonly team?: string | undefined
}

/** What queries need: a small pool with a bounded queue and a time limit on every read. */
export interface ClickHouseReader {
  /** Rows as objects, 64-bit integers as numbers. */
  query<Row>(sql: string, parameters?: SqlParameters, options?: ReadOptions): Promise<readonly Row[]>
  /** The rows in ClickHouse's Native format, as the engine produces them. Ends early when the consumer stops. */
  stream(sql: string, parameters?: SqlParameters, options?: ReadOptions): AsyncIterable<Uint8Array>
}

export interface ClickHouse {
  readonly writer: ClickHouseWriter
  readonly reader: ClickHouseReader
  /** The name of the database that statements speak of. */
  readonly database: string
  /** Another database of the same engine, made where it is missing; closed apart from this one. */
  beside(database: string): Promise<ClickHouse>
  /** Why it answers nobody now; undefined while it does, or while nobody knows better. */
  away(): string | undefined
  close(): Promise<void>
}

/** A read took longer than its limit, or more memory. */
export class ReadTooExpensive extends Error {
  override readonly name = 'ReadTooExpensive'
  constructor(readonly limit: 'time' | 'memory') {
    super(`the read exceeded its ${limit} limit`)
  }
}

/** The read was cancelled by the one who asked for it. */
export class ReadAbandoned extends Error {
  override readonly name = 'ReadAbandoned'
}

/** So many reads wait already that one more is not taken. */
export class TooManyReads extends Error {
  override readonly name = 'TooManyReads'
}

/** The engine refused an insert because of its data, not because it was busy or away. */
export class RowsRefused extends Error {
  override readonly name = 'RowsRefused'
}

/**
 * `away`: nobody answers, or not to the end. `busy`: too much to do, or a part of it is missing for now. `refusing`:
 * it lets this user in no more, or lacks what is needed; that stays until somebody changes it.
 */
type Unavailability = 'away' | 'busy' | 'refusing'

/** The engine does not do its work now, whatever it was asked; its message is for operators and quotes nothing. */
export class ClickHouseUnavailable extends OperatorError {
  override readonly name = 'ClickHouseUnavailable'
  constructor(
    readonly why: Unavailability,
    message: string,
    options?: ErrorOptions & {
      /** The engine's own error code, where it gave one. */
      readonly code?: string
    },
  ) {
    super(message, options)
    if (options?.code !== undefined) this.code = options.code
  }

  declare readonly code?: string
}
