import { versionedCache } from '../../runtime/versioned-cache.js'

/** Answers that were made not long ago. One that would take more than a hundredth of the room is not kept. */
export const textCache = (maxCharacters: number) =>
  versionedCache<string>({
    maxSize: maxCharacters,
    sizeOf: (text, key) => key.length + text.length,
    maxEntrySize: Math.floor(maxCharacters / 100),
  })
