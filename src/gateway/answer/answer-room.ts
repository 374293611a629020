/** The memory that the record of one streamed answer may take. */
export interface AnswerRoom {
  /** Counts more characters. Returns whether there is room for others. */
  readonly takes: (characters: number) => boolean
  readonly release: () => void
}

/** In characters: as many as a client could record itself in one request, and those of all answers under way. */
const MOST_OF_ANSWER = 33_554_432
const MOST_OF_ALL = 268_435_456

export const openAnswerRooms = (
  mostOfAnswer = MOST_OF_ANSWER,
  mostOfAll = MOST_OF_ALL,
): (() => AnswerRoom) => {
  let all = 0
  return () => {
    let own = 0
    return {
      takes: (characters) => {
        own += characters
        all += characters
        return own <= mostOfAnswer && all <= mostOfAll
      },
      release: () => {
        all -= own
        own = 0
      },
    }
  }
}
