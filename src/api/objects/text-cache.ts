/** Texts that were made not long ago, each good for one version of what it was made from. */
export interface TextCache {
  readonly get: (key: string, version: bigint) => string | undefined
  readonly put: (key: string, version: bigint, text: string) => void
}

interface Kept {
  readonly version: bigint
  readonly text: string
}

/** The least recently asked for goes first. A text that would take more than a hundredth of the room is not kept. */
export const textCache = (maxCharacters: number): TextCache => {
  const kept = new Map<string, Kept>()
  let characters = 0

  const drop = (key: string): void => {
    const found = kept.get(key)
    if (found === undefined) return
    characters -= key.length + found.text.length
    kept.delete(key)
  }

  return {
    get: (key, version) => {
      const found = kept.get(key)
      if (found?.version !== version) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found.text
    },
    put: (key, version, text) => {
      drop(key)
      const size = key.length + text.length
      if (size > maxCharacters / 100) return
      kept.set(key, { version, text })
      characters += size
      for (const oldest of kept.keys()) {
        if (characters <= maxCharacters) return
        drop(oldest)
      }
    },
  }
}
