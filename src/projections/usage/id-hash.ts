import { randomBytes } from 'node:crypto'

const half = (): string => `toUInt64(${randomBytes(8).readBigUInt64LE()})`

/** One for this process: cached traces keep the hashes of their ids. */
const KEY = `(${half()}, ${half()})`

/**
 * The hash of an id in SQL, a UInt32. Clients choose ids: with an unkeyed hash they could choose ids that all collide, and
 * finding one would take as long as there are ids.
 */
export const idHash = (sql: string): string => `toUInt32(sipHash64Keyed(${KEY}, ${sql}))`
