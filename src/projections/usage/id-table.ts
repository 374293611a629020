import type { FindId, Ids } from './trace-columns.js'

/**
 * An open-addressing table over ids that are hashed already. A hash only says where to look: what is found is compared
 * byte by byte, so that ids made to collide cost time and never a wrong answer.
 */
export const idTable = (ids: Ids, hashes: Uint32Array, size: number): FindId => {
  const capacity = 2 ** Math.ceil(Math.log2(Math.max(size, 1) * 2))
  const mask = capacity - 1
  const slots = new Int32Array(capacity).fill(-1)
  for (let i = 0; i < size; i += 1) {
    let slot = hashes[i]! & mask
    while (slots[slot] !== -1) slot = (slot + 1) & mask
    slots[slot] = i
  }
  return (bytes, from, to, hash) => {
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const index = slots[slot]!
      if (index === -1) return -1
      if (hashes[index] === hash && sameBytes(ids, index, bytes, from, to)) return index
    }
  }
}

const sameBytes = (ids: Ids, index: number, bytes: Uint8Array, from: number, to: number): boolean => {
  const start = ids.offsets[index]!
  if (ids.offsets[index + 1]! - start !== to - from) return false
  for (let i = from; i < to; i += 1) if (ids.bytes[start + i - from] !== bytes[i]) return false
  return true
}
