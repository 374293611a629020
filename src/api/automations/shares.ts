/** So many at once of each; the answer ends one of them, undefined where there are that many already. */
export const shares = (most: number) => {
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
