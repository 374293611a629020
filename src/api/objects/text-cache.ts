import { versionedCache } from '../../domain/versioned-cache.js'

/** Answers that were made not long ago. One that would take more than a hundredth of the room is not kept. */
export const textCache = (maxCharacters: number) =>
  versionedCache<string>({
    most: maxCharacters,
    weightOf: (text, key) => key.length + text.length,
    isWorthKeeping: (_text, characters) => characters <= maxCharacters / 100,
  })
