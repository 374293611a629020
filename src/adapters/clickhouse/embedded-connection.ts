import { Readable } from 'node:stream'
import { parseError } from '@clickhouse/client'
import {
  createChdbConnection,
  type ChdbConnection,
  type ConnBaseQueryParams,
  type ConnCommandResult,
  type Connection,
  type ConnExecParams,
  type ConnExecResult,
  type ConnInsertParams,
  type ConnInsertResult,
  type ConnPingParams,
  type ConnPingResult,
  type ConnQueryResult,
} from 'chdb/connection'

/**
 * The in-process engine as a connection of the ClickHouse client. Its `exec` streams the result; the binding's own one
 * buffers all of it.
 */
export class EmbeddedConnection implements Connection<Readable> {
  readonly #chdb: ChdbConnection

  constructor(directory: string) {
    this.#chdb = createChdbConnection({ path: directory })
  }

  query(params: ConnBaseQueryParams): Promise<ConnQueryResult<Readable>> {
    return this.#released(this.#chdb.query(params))
  }

  command(params: ConnBaseQueryParams): Promise<ConnCommandResult> {
    return this.#released(this.#chdb.command(params))
  }

  insert(params: ConnInsertParams<Readable>): Promise<ConnInsertResult> {
    return this.#released(this.#chdb.insert(params))
  }

  async exec(params: ConnExecParams<Readable>): Promise<ConnExecResult<Readable>> {
    if (params.values !== undefined) return this.#released(this.#chdb.exec(params))
    const chunks = this.#chunksOf(params.query)
    const first = await chunks.next()
    const stream = Readable.from(bytesOf(first, chunks), { objectMode: false })
    return { stream, query_id: params.query_id ?? '', response_headers: {}, http_status_code: 200 }
  }

  async *#chunksOf(query: string): AsyncGenerator<Chunk> {
    const chunks = this.#chdb.chdb.queryStream(query)[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await this.#released(chunks.next())
        if (next.done === true) return
        yield next.value
      }
    } finally {
      await chunks.return?.()
    }
  }

  /**
   * A statement that fails holds its tables until its connection runs another one, so that they could not be dropped.
   * Errors of the binding have the engine's code only in their message; this adds it as `code`.
   */
  async #released<A>(work: Promise<A>): Promise<A> {
    try {
      return await work
    } catch (error) {
      await this.#chdb.chdb.queryAsync('SELECT 1').catch(() => undefined)
      throw error instanceof Error ? parseError(error) : error
    }
  }

  /** The whole result. Unlike `exec`, which plans its statement on the main thread for some milliseconds. */
  async whole(query: string): Promise<{ readonly stream: Readable }> {
    const bytes = (await this.#released(this.#chdb.chdb.queryAsync(query))).bytes()
    return { stream: Readable.from(bytes.length === 0 ? [] : [bytes]) }
  }

  ping(params: ConnPingParams): Promise<ConnPingResult> {
    return this.#chdb.ping(params)
  }

  close(): Promise<void> {
    return this.#chdb.close()
  }
}

interface Chunk {
  raw(): Uint8Array
}

/**
 * The first chunk is fetched before the stream is returned, so that a refused statement fails there. Later chunks are
 * computed while the one before is used.
 */
async function* bytesOf(first: IteratorResult<Chunk>, rest: AsyncGenerator<Chunk>): AsyncGenerator<Buffer> {
  try {
    for (let next = first; next.done !== true;) {
      const ahead = rest.next()
      ahead.catch(() => undefined)
      const bytes = next.value.raw()
      yield Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      next = await ahead
    }
  } finally {
    await rest.return(undefined)
  }
}
