/** A concurrency limit per key. Returns a function that frees the slot, or undefined at the limit. */
export const concurrencyLimit = (most: number) => {
  const taken = new Map<string, number>()
  return {
    enter: (of: string): (() => void) | undefined => {
      const before = taken.get(of) ?? 0
      if (before >= most) return undefined
      taken.set(of, before + 1)
      return () => {
        const left = taken.get(of)! - 1
        if (left === 0) taken.delete(of)
        else taken.set(of, left)
      }
    },
  }
}
