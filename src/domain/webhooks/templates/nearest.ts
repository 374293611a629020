/** The name that needs the fewest edits to become the given one; null if a third of it or more would change. */
export const nearestOf = (name: string, names: readonly string[]): string | null => {
  let nearest: string | null = null
  let least = Math.ceil(name.length / 3)
  for (const one of names) {
    const edits = editsBetween(name.toLowerCase(), one.toLowerCase(), least)
    if (edits >= least) continue
    nearest = one
    least = edits
  }
  return nearest
}

/** The Levenshtein distance of two texts; `limit` if it is that or more. */
const editsBetween = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return Math.min(row[b.length]!, limit)
}
