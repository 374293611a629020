/** A whole number without loss: a double as long as one holds it, a bigint beyond. */
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

/** As a double where one holds it, so that arithmetic is quick. */
export const exact = (value: bigint): Exact =>
  value < BigInt(LIMIT) && value > -BigInt(LIMIT) ? Number(value) : value
