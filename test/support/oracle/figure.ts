import type { Json } from './operations.js'

const LARGEST = 2n ** 53n

export const clamped = (figure: bigint): bigint => {
  if (figure > LARGEST) return LARGEST
  return figure < -LARGEST ? -LARGEST : figure
}

/** One figure as a client wrote it (section 3): null, absent and everything unreadable is 0. */
export const figure = (written: Json | undefined): bigint => {
  if (written === true) return 1n
  if (typeof written === 'number') return clamped(ofNumber(written))
  if (typeof written === 'string') return clamped(ofString(written))
  return 0n
}

const ofNumber = (written: number): bigint => {
  if (Number.isNaN(written)) return 0n
  if (!Number.isFinite(written)) return written > 0 ? LARGEST : -LARGEST
  return BigInt(Math.trunc(written))
}

const ofString = (written: string): bigint => {
  const parts = /^([+-]?)([0-9]+)$/u.exec(written.trim())
  if (parts === null) return 0n
  const size = BigInt(parts[2]!)
  return parts[1] === '-' ? -size : size
}
