/** The memory budget for the record of one streamed answer. */
export interface AnswerRoom {
  /** Adds characters. Returns false once the budget of this answer or of all answers is exceeded. */
  readonly takes: (characters: number) => boolean
  readonly release: () => void
}

/** In characters. One answer may have as many as the body of a request. */
const MAX_PER_ANSWER = 33_554_432
const MAX_IN_TOTAL = 268_435_456

export const openAnswerRooms = (
  maxPerAnswer = MAX_PER_ANSWER,
  maxInTotal = MAX_IN_TOTAL,
): (() => AnswerRoom) => {
  let all = 0
  return () => {
    let own = 0
    return {
      takes: (characters) => {
        own += characters
        all += characters
        return own <= maxPerAnswer && all <= maxInTotal
      },
      release: () => {
        all -= own
        own = 0
      },
    }
  }
}
