/** An exact whole number: a double while it is a safe integer, else a bigint. */
export type Exact = number | bigint

const LIMIT = 2 ** 53

export const product = (a: Exact, b: Exact): Exact => {
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = a * b
    if (quick < LIMIT && quick > -LIMIT) return quick
  }
  return BigInt(a) * BigInt(b)
}

export const sum = (a: Exact, b: Exact): Exact => {
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = a + b
    if (quick < LIMIT && quick > -LIMIT) return quick
  }
  return BigInt(a) + BigInt(b)
}

/** Converts to a double if safe, since double arithmetic is faster. */
export const exact = (value: bigint): Exact =>
  value < BigInt(LIMIT) && value > -BigInt(LIMIT) ? Number(value) : value
