import { versionedCache } from '../../runtime/versioned-cache.js'

/** An LRU cache of responses. Skips those larger than a hundredth of its size. */
export const responseCache = (maxCharacters: number) =>
  versionedCache<string>({
    maxSize: maxCharacters,
    sizeOf: (text, key) => key.length + text.length,
    maxEntrySize: Math.floor(maxCharacters / 100),
  })
