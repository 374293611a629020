import type { MemoryLease } from '../../kernel/memory-account.js'

/** Memory for a character of an answer: its text, and the values that are parsed from it or that it is made of. */
export const MEMORY_PER_CHARACTER = 4

/** The memory budget for the record of one streamed answer. */
export interface AnswerRoom {
  /** Takes characters. Returns how many of them fit: fewer than asked once, and then none. */
  readonly grant: (characters: number) => number
  readonly isFull: () => boolean
  readonly release: () => void
}

/** In characters. One answer may have as many as the body of a request. */
const MAX_PER_ANSWER = 33_554_432
/** Granted to each answer, however much memory others use. */
const GUARANTEED = 262_144

/** What exceeds the guaranteed characters is taken from the memory of the request. */
export const answerRoom = (
  memory: Pick<MemoryLease, 'grow' | 'shrink'>,
  maxCharacters = MAX_PER_ANSWER,
  guaranteed = GUARANTEED,
): AnswerRoom => {
  let own = 0
  let isFull = false
  const takenFromMemory = () => Math.max(0, own - guaranteed) * MEMORY_PER_CHARACTER
  return {
    grant: (characters) => {
      if (isFull) return 0
      const before = takenFromMemory()
      const free = Math.max(0, guaranteed - own)
      const granted = Math.min(characters, maxCharacters - own)
      own += granted
      if (memory.grow(takenFromMemory() - before)) {
        isFull = granted < characters
        return granted
      }
      isFull = true
      const left = Math.min(free, granted)
      own -= granted - left
      return left
    },
    isFull: () => isFull,
    release: () => {
      memory.shrink(takenFromMemory())
      own = 0
    },
  }
}
