/**
 * The calls of one trace or several as columns, a call an index. Calls stand in the order of their trace and id, so
 * that ids compare like indices within a trace. Numbers are doubles: token figures are exact up to 2^53.
 */
export interface TraceColumns {
  readonly size: number
  readonly ids: Ids
  /** The parent's index where it is a call of the same trace, else -1. */
  readonly parent: Int32Array
  /** Microseconds since 2100 (so that 1900 to 2299 is exact); `ended` is NaN for a call that has no end. */
  readonly started: Float64Array
  readonly ended: Float64Array
  /** 1 for a call that was deleted: it counts nowhere, but an SDK parent's figures still include it. */
  readonly deleted: Uint8Array
  /** 0 where the call was not written by an SDK that sums. */
  readonly source: Uint8Array
  /** The sum of the summary's status counts, NaN where it carries none. */
  readonly statusTotal: Float64Array
  readonly reported: Reported
  /** The index of the call with this id; -1 for none. */
  readonly find: FindId
}

/** Finds the call whose id stands in `bytes` from `from` to `to` and has this xxHash32. */
export type FindId = (bytes: Uint8Array, from: number, to: number, hash: number) => number

/** Ids as UTF-8, one behind the other. */
export interface Ids {
  readonly bytes: Uint8Array
  /** `size + 1` offsets. */
  readonly offsets: Uint32Array
}

/** Usage as reported: entries of call `i` are `offsets[i]` to `offsets[i + 1]`, ascending by model. */
export interface Reported {
  readonly models: readonly string[]
  readonly offsets: Uint32Array
  readonly model: Uint32Array
  /** Eight figures an entry, in the order of `FIGURES`. */
  readonly figures: Float64Array
}

export const idText = ({ bytes, offsets }: Ids, index: number): string =>
  Buffer.from(
    bytes.buffer,
    bytes.byteOffset + offsets[index]!,
    offsets[index + 1]! - offsets[index]!,
  ).toString('utf8')

/** In the order of their bytes, as ClickHouse orders strings. */
export const compareIds = ({ bytes, offsets }: Ids, a: number, b: number): number =>
  Buffer.compare(bytes.subarray(offsets[a], offsets[a + 1]), bytes.subarray(offsets[b], offsets[b + 1]))
