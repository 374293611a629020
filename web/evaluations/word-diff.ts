interface DiffPart {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Longer texts are not compared word by word: the table of all pairs of words would be too large. */
const MAX_WORDS = 1500

/** The words of two texts, as parts that both have or only one has; undefined for texts that are too long. */
export const wordDiff = (before: string, after: string): readonly DiffPart[] | undefined => {
  const [a, b] = [wordsOf(before), wordsOf(after)]
  if (a.length > MAX_WORDS || b.length > MAX_WORDS) return undefined
  const lengths = commonLengths(a, b)
  const parts: { kind: DiffPart['kind']; text: string }[] = []
  const add = (kind: DiffPart['kind'], text: string) => {
    const last = parts.at(-1)
    if (last?.kind === kind) last.text += text
    else parts.push({ kind, text })
  }
  let [i, j] = [0, 0]
  const width = b.length + 1
  while (i < a.length || j < b.length)
    if (i < a.length && j < b.length && a[i] === b[j]) {
      add('same', a[i]!)
      i += 1
      j += 1
    } else if (
      j < b.length &&
      (i === a.length || lengths[i * width + j + 1]! > lengths[(i + 1) * width + j]!)
    ) {
      add('added', b[j]!)
      j += 1
    } else {
      add('removed', a[i]!)
      i += 1
    }
  return parts
}

const wordsOf = (text: string): readonly string[] => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? []

/** By place in both lists: the length of the longest common list of words from there on. */
const commonLengths = (a: readonly string[], b: readonly string[]): Uint16Array => {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
  return lengths
}
