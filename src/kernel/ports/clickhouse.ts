import { OperatorError } from './operator-error.js'

/** Values of `{name:Type}` placeholders, the only way in which client values reach ClickHouse. */
export type SqlParameters = Readonly<Record<string, SqlParameter>>
export type SqlParameter = string | number | bigint | boolean | null | readonly (string | number | bigint)[]

/** A value of a row that is JSON text of an object or a list already. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** Rows to insert, as JSON values or their text in the order of `columns`. */
export interface Rows {
  readonly table: string
  readonly columns: readonly string[]
  readonly values: readonly (readonly unknown[])[]
}

/** Used by the projector. It has its own connection, so that reads never delay it. */
export interface ClickHouseWriter {
  /** Runs a DDL statement, on every server of a cluster. */
  command(sql: string): Promise<void>
  insert(rows: Rows): Promise<void>
  query<Row>(sql: string, parameters?: SqlParameters): Promise<readonly Row[]>
}

export interface ReadOptions {
  /** Cancels the read, which then throws ReadAbandoned. The embedded engine finishes a statement it has started. */
  readonly signal?: AbortSignal | undefined
  /** The team on whose behalf it reads: the embedded engine keeps a reader free for other teams. */
  readonly team?: string | undefined
  /** The format of a streamed read. */
  readonly format?: 'Native' | 'CSVWithNames' | 'Parquet'
  /** A streamed read with a small result, which the embedded engine starts outside of the main thread and returns whole. */
  readonly isSmall?: boolean
}

/** Start times as ClickHouse prints them, both included. */
export interface TimeRange {
  readonly from: string
  readonly to: string
}

/** What reads learn about the parts of the tables of a database. */
interface KnownParts {
  /** What tables have lost: until they are filled again, reads are refused with it. */
  lost?: string | undefined
  /** In the time of `performance.now()`. Parts are not listed before, because the server refused to list them. */
  refusedUntil: number
  /** The ranges of days in which a part has rows of a project, for the parts read most recently. Parts never change. */
  readonly ranges: {
    get(key: string): readonly TimeRange[] | undefined
    set(key: string, ranges: readonly TimeRange[]): unknown
  }
  /** What parts add to counts. */
  readonly counts: { get(key: string): PartCount | undefined; set(key: string, count: PartCount): unknown }
}

/** Rows of a part, with the range of their positions. */
export interface PartCount {
  readonly calls: number
  readonly first: number
  readonly last: number
}

/** Used by queries: a small pool with a bounded queue and a time limit per read. */
export interface ClickHouseReader extends ClickHouseReads {
  readonly knownParts: KnownParts
}

export interface ClickHouseReads {
  /** Rows as objects, 64-bit integers as numbers. */
  query<Row>(sql: string, parameters?: SqlParameters, options?: ReadOptions): Promise<readonly Row[]>
  /** The rows in a format of the engine, by default its Native format. Cancelled when the consumer stops. */
  stream(sql: string, parameters?: SqlParameters, options?: ReadOptions): AsyncIterable<Uint8Array>
}

export interface ClickHouse {
  readonly writer: ClickHouseWriter
  readonly reader: ClickHouseReader
  /** The default database of statements. */
  readonly database: string
  /**
   * Creates the database unless it exists. Called before the first statement.
   *
   * @throws ClickHouseUnavailable if a server is away, or cannot be used; the message names the variable
   */
  prepare(): Promise<void>
  /** Opens another database of the same engine, creating it if needed. It is closed separately. */
  beside(database: string): Promise<ClickHouse>
  /** Why the engine is unavailable; undefined while it is available or its state is unknown. */
  away(): string | undefined
  close(): Promise<void>
}

/** A read exceeded its limit of time or memory. */
export class ReadTooExpensive extends Error {
  override readonly name = 'ReadTooExpensive'
  constructor(readonly limit: 'time' | 'memory') {
    super(`the read exceeded its ${limit} limit`)
  }
}

/** The caller cancelled the read. */
export class ReadAbandoned extends Error {
  override readonly name = 'ReadAbandoned'
}

/** The queue of reads is full. */
export class TooManyReads extends Error {
  override readonly name = 'TooManyReads'
}

/** The engine refused an insert because of its data. */
export class RowsRefused extends Error {
  override readonly name = 'RowsRefused'
}

/**
 * `away`: no response, or an incomplete one. `busy`: overloaded, or a part is missing temporarily. `damaged`: a table, a
 * column or a file is missing or unreadable. `refusing`: it denies access or lacks what it needs, until someone fixes that.
 */
type Unavailability = 'away' | 'busy' | 'damaged' | 'refusing'

/** The engine cannot serve any statement at present. The message is for operators and quotes no data. */
export class ClickHouseUnavailable extends OperatorError {
  override readonly name = 'ClickHouseUnavailable'
  constructor(
    readonly why: Unavailability,
    message: string,
    options?: ErrorOptions & {
      /** The engine's error code, if it reported one. */
      readonly code?: string
    },
  ) {
    super(message, options)
    if (options?.code !== undefined) this.code = options.code
  }

  declare readonly code?: string
}
