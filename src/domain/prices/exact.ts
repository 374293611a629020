/** An exact whole number: a double while it is a safe integer, else a bigint. */
export type Exact = number | bigint

/** Doubles represent all integers up to this one exactly. */
export const LARGEST_EXACT = 2 ** 53

export const product = (a: Exact, b: Exact): Exact => {
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = a * b
    if (quick < LARGEST_EXACT && quick > -LARGEST_EXACT) return quick
  }
  return BigInt(a) * BigInt(b)
}

export const sum = (a: Exact, b: Exact): Exact => {
  if (typeof a === 'number' && typeof b === 'number') {
    const quick = a + b
    if (quick < LARGEST_EXACT && quick > -LARGEST_EXACT) return quick
  }
  return BigInt(a) + BigInt(b)
}

/** Converts to a double if safe, since double arithmetic is faster. */
export const exact = (value: bigint): Exact =>
  value < BigInt(LARGEST_EXACT) && value > -BigInt(LARGEST_EXACT) ? Number(value) : value
