/** The memory budget for the record of one streamed answer. */
export interface AnswerRoom {
  /** Takes characters. Returns how many of them fit: fewer than asked once, and then none. */
  readonly grant: (characters: number) => number
  readonly isFull: () => boolean
  readonly release: () => void
}

/** In characters. One answer may have as many as the body of a request. */
const MAX_PER_ANSWER = 33_554_432
const MAX_IN_TOTAL = 268_435_456
/** Granted to each answer, however much the others use. */
const GUARANTEED = 262_144

/** A team may use as much as is left: half of all memory if it is alone, and never what others need. */
export const openAnswerRooms = (
  maxPerAnswer = MAX_PER_ANSWER,
  maxInTotal = MAX_IN_TOTAL,
  guaranteed = GUARANTEED,
): ((team: string) => AnswerRoom) => {
  const usedBy = new Map<string, number>()
  let used = 0
  const take = (team: string, characters: number) => {
    used += characters
    const now = (usedBy.get(team) ?? 0) + characters
    if (now === 0) usedBy.delete(team)
    else usedBy.set(team, now)
  }
  return (team) => {
    let own = 0
    let isFull = false
    return {
      grant: (characters) => {
        if (isFull) return 0
        const share = Math.floor((maxInTotal - used - (usedBy.get(team) ?? 0)) / 2)
        const most = Math.min(maxPerAnswer - own, Math.max(guaranteed - own, share))
        const granted = Math.max(0, Math.min(characters, most))
        isFull = granted < characters
        own += granted
        take(team, granted)
        return granted
      },
      isFull: () => isFull,
      release: () => {
        take(team, -own)
        own = 0
      },
    }
  }
}
