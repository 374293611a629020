type Numeric = Float64Array | Uint32Array | Uint8Array

/** The array, or a copy of at least twice its size where it is too small. New places are 0. */
export const grown = <A extends Numeric>(array: A, needed: number): A => {
  if (needed <= array.length) return array
  const larger = new (array.constructor as new (size: number) => A)(Math.max(needed, array.length * 2))
  larger.set(array)
  return larger
}
